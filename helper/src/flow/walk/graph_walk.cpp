// Follows the graph of basic blocks packet by packet: one edge for each bit of a TNT packet, and
// one to the target that a TIP packet names.
#include "flow/walk/packet_walker.hpp"

namespace ptlens::flow {

// Holds back the conditional branch at the end of the block, which was taken.
void PacketWalker::hold(BlockId block, const UncertainTime& time) {
  const CodeGraph& graph = *graph_;
  const BlockId taken = graph[block].edge(true);
  run_->hold(graph.points().branch(block, BranchKind::cond, graph.ends(taken).begin, taken), time);
}

// Emits the direct branches inside the block. May add blocks.
void PacketWalker::pass(const BasicBlock& block, const UncertainTime& time) {
  const std::uint32_t first = index_of(block.first_direct);
  const std::uint32_t end = first + block.direct_count;
  for (std::uint32_t index = first; index != end; ++index) {
    const DirectBranchId id{index};
    run_->add_at(graph_->points().branch(id), time);
    if (graph_->direct(id).returns) {
      returns_->push(graph_->behind(id));
    }
  }
}

// Follows the bits of the packet. Returns the block that control is in then; no_block where the
// bits that are left are to be followed one instruction at a time, from address_ on.
BlockId PacketWalker::follow_bits(BlockId id, const Packet& packet) {
  const TimeInterval last = run_->last();
  run_->decide(packet.timed ? TimeInterval{packet.reported_ns, packet.latest_ns} : last);
  const UncertainTime reported = run_->decided();
  UncertainTime before = run_->between(last);
  UncertainTime decided = reported;
  BlockId held = no_block;
  unsigned left = packet.bit_count;
  while (id != no_block && left != 0) {
    if (left == 1 && packet.bit_count == packet.room && packet.timed) {
      if (held != no_block) {
        hold(held, reported);
        held = no_block;
      }
      run_->decide(TimeInterval{packet.earliest_ns, packet.latest_ns});
      decided = run_->decided();
    }
    const bool taken = (packet.value >> (left - 1U) & 1U) != 0;
    const BasicBlock block = (*graph_)[id];
    if (block.ends_with(BasicBlock::End::conditional)) {
      const BlockId edge = graph_->take(id, taken);
      if (edge == no_block) {
        break;
      }
      instructions_ += block.instructions;
      if (block.direct_count != 0) {
        held = no_block;
        pass(block, before);
      }
      if (taken && block.hidden != 0) {
        held = id;
      } else if (taken) {
        held = no_block;
        run_->add_at(graph_->points().branch(id, BranchKind::cond, graph_->ends(edge).begin, edge),
                     decided);
      }
      id = edge;
    } else if (block.ends_with(BasicBlock::End::ret) && taken &&
               (block.calls != 0 || !returns_->empty())) {
      held = no_block;
      instructions_ += block.instructions;
      pass(block, before);
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      const BlockId to = point.block != no_block ? point.block : graph_->at(point.address);
      run_->add_at(graph_->points().branch(id, BranchKind::ret, point.address, to), decided);
      id = to;
      if (id == no_block) {
        address_ = point.address;
      }
    } else {
      address_ = graph_->ends(id).begin;
      id = no_block;
      break;
    }
    before = reported;
    --left;
  }
  if (held != no_block) {
    hold(held, decided);
  }
  if (left == packet.bit_count) {
    run_->undo_decision(last);
  }
  if (left != 0) {
    leave_bits(id, packet.value, left, packet);
    return no_block;
  }
  return id;
}

void PacketWalker::leave_bits(BlockId id, std::uint64_t bits, unsigned left, const Packet& packet) {
  address_ = id == no_block ? address_ : graph_->ends(id).begin;
  bits_ = bits;
  bit_count_ = static_cast<std::uint8_t>(left);
  bits_packet_ = packet;
}

// Follows the target that the packet names. Returns the block there; no_block, having followed
// nothing, where no code is known there or the block does not end by an indirect transfer.
BlockId PacketWalker::follow_target(BlockId id, const Packet& packet) {
  const BasicBlock block = (*graph_)[id];
  BranchKind kind = BranchKind::indirect;
  switch (static_cast<BasicBlock::End>(block.end)) {
  case BasicBlock::End::call:
    kind = BranchKind::call;
    break;
  case BasicBlock::End::ret:
    kind = BranchKind::ret;
    break;
  case BasicBlock::End::jump:
    break;
  default:
    return no_block;
  }
  if (!packet.has_ip) {
    return no_block;
  }
  const bool as_called =
      kind == BranchKind::ret && block.calls == 0 && returns_->leads_to(packet.value);
  const BlockId to = as_called ? returns_->top().block : graph_->go(packet.value).block;
  if (to == no_block) {
    return no_block;
  }
  const TimeInterval last = run_->last();
  run_->decide(packet.sent());
  instructions_ += block.instructions;
  pass(block, run_->between(last));
  if (kind == BranchKind::call) {
    returns_->push(graph_->behind(id));
  } else if (kind == BranchKind::ret) {
    returns_->pop();
  }
  run_->add_at(graph_->points().branch(id, kind, packet.value, to), run_->decided());
  return to;
}

// Follows the block to its system call, which switches tracing off.
void PacketWalker::enter_system(BlockId id, const Packet& packet) {
  const BasicBlock block = (*graph_)[id];
  const TimeInterval last = run_->last();
  run_->decide(packet.sent());
  instructions_ += block.instructions;
  pass(block, run_->between(last));
  branch_ = graph_->points().branch(id, BranchKind::syscall, 0);
  branch_.leaving = BranchKind::syscall;
  address_ = 0;
  hidden_ = false;
  decided_ = true;
}

// Follows the graph while the packets are such that nothing can take effect between two decisions.
// Returns nullopt where the next instructions are to be followed one at a time.
std::optional<PacketWalker::Stop> PacketWalker::follow_graph() {
  if (bit_count_ != 0 || next_.kind != Flow::none) {
    return std::nullopt;
  }
  BlockId block = no_block;
  while (!run_->is_long()) {
    if (packets_->is_exact()) {
      block = follow_exact(block);
      if (bit_count_ != 0) {
        return std::nullopt;
      }
      if (run_->is_long()) {
        break;
      }
    }
    const Packet* const packet = packets_->peek();
    if (packet == nullptr || (packet->kind != PacketKind::tnt && packet->kind != PacketKind::tip &&
                              packet->kind != PacketKind::pgd)) {
      break;
    }
    if (block == no_block) {
      block = graph_->at(address_);
      if (block == no_block) {
        return std::nullopt;
      }
    }
    if (packet->kind == PacketKind::tnt) {
      block = follow_bits(block, *packet);
      packets_->pop();
      if (bit_count_ != 0) {
        return std::nullopt;
      }
    } else if (packet->kind == PacketKind::tip) {
      const BlockId to = follow_target(block, *packet);
      if (to == no_block) {
        break;
      }
      block = to;
      packets_->pop();
    } else if (!packet->has_ip && (*graph_)[block].ends_with(BasicBlock::End::system)) {
      enter_system(block, *packet);
      packets_->pop();
      return Stop::off;
    } else {
      break;
    }
  }
  if (block != no_block) {
    address_ = graph_->ends(block).begin;
  }
  return run_->is_long() ? std::optional(Stop::full) : std::nullopt;
}

} // namespace ptlens::flow
