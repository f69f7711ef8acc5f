// The packet walker's way along the graph of decisions: a TNT packet is a step for each bit, a TIP
// packet one step to where it says.
#include "flow/walk/packet_walker.hpp"

namespace ptlens::flow {

// Of a conditional branch that was taken.
void PacketWalker::hold(BlockIndex way, const Moment& moment) {
  const CodeGraph& graph = *graph_;
  const BlockIndex taken = graph[way].taken;
  run_->hold(graph.points().branch_of_way(way, BranchKind::cond, graph.ends(taken).begin, taken),
             moment);
}

// What lies on the way to its decision happens. Ways may be added.
void PacketWalker::pass(const BasicBlock& way, const Moment& moment) {
  const std::uint32_t end = way.first_step + way.step_count;
  for (std::uint32_t number = way.first_step; number != end; ++number) {
    run_->add_at(graph_->points().branch_of_step(number), moment);
    if (graph_->step(number).returns) {
      returns_->push(graph_->behind_step(number));
    }
  }
}

// As far as the bits lead; no_block where those that are left are to be followed by hand, from
// address_ on.
BlockIndex PacketWalker::follow_bits(BlockIndex index, const Packet& packet) {
  const TimeInterval last = run_->last();
  run_->decide(packet.timed ? TimeInterval{packet.reported_ns, packet.latest_ns} : last);
  const Moment reported = run_->decided();
  Moment before = run_->between(last);
  Moment decided = reported;
  BlockIndex held = no_block;
  unsigned left = packet.bit_count;
  while (index != no_block && left != 0) {
    if (left == 1 && packet.bit_count == packet.room && packet.timed) {
      if (held != no_block) {
        hold(held, reported);
        held = no_block;
      }
      run_->decide(TimeInterval{packet.earliest_ns, packet.latest_ns});
      decided = run_->decided();
    }
    const bool taken = (packet.value >> (left - 1U) & 1U) != 0;
    const BasicBlock way = (*graph_)[index];
    if (way.ends_with(BasicBlock::End::conditional)) {
      const BlockIndex edge = graph_->take(index, taken);
      if (edge == no_block) {
        break;
      }
      instructions_ += way.instructions;
      if (way.step_count != 0) {
        held = no_block;
        pass(way, before);
      }
      if (taken && way.untold != 0) {
        held = index;
      } else if (taken) {
        held = no_block;
        run_->add_at(
            graph_->points().branch_of_way(index, BranchKind::cond, graph_->ends(edge).begin, edge),
            decided);
      }
      index = edge;
    } else if (way.ends_with(BasicBlock::End::ret) && taken &&
               (way.calls != 0 || !returns_->empty())) {
      held = no_block;
      instructions_ += way.instructions;
      pass(way, before);
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      const BlockIndex to = point.way != no_block ? point.way : graph_->at(point.address);
      run_->add_at(graph_->points().branch_of_way(index, BranchKind::ret, point.address, to),
                   decided);
      index = to;
      if (index == no_block) {
        address_ = point.address;
      }
    } else {
      address_ = graph_->ends(index).begin;
      index = no_block;
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
    address_ = index == no_block ? address_ : graph_->ends(index).begin;
    index = no_block;
    bits_ = packet.value;
    bit_count_ = static_cast<std::uint8_t>(left);
    bits_packet_ = packet;
  }
  return index;
}

// no_block where the packet's address is none of code that is known, or the way does not lead by
// one: nothing was followed then.
BlockIndex PacketWalker::follow_target(BlockIndex index, const Packet& packet) {
  const BasicBlock way = (*graph_)[index];
  BranchKind kind = BranchKind::indirect;
  switch (static_cast<BasicBlock::End>(way.end)) {
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
      kind == BranchKind::ret && way.calls == 0 && returns_->leads_to(packet.value);
  const BlockIndex to = as_called ? returns_->top().way : graph_->go(packet.value);
  if (to == no_block) {
    return no_block;
  }
  const TimeInterval last = run_->last();
  run_->decide(packet.sent());
  instructions_ += way.instructions;
  pass(way, run_->between(last));
  if (kind == BranchKind::call) {
    returns_->push(graph_->behind(index));
  } else if (kind == BranchKind::ret) {
    returns_->pop();
  }
  run_->add_at(graph_->points().branch_of_way(index, kind, packet.value, to), run_->decided());
  return to;
}

// The way leads to a system call, with which tracing goes off.
void PacketWalker::enter_system(BlockIndex index, const Packet& packet) {
  const BasicBlock way = (*graph_)[index];
  const TimeInterval last = run_->last();
  run_->decide(packet.sent());
  instructions_ += way.instructions;
  pass(way, run_->between(last));
  branch_ = graph_->points().branch_of_way(index, BranchKind::syscall, 0);
  branch_.leaving = BranchKind::syscall;
  address_ = 0;
  untold_ = false;
  decided_ = true;
}

// While the packets are such that nothing can take effect between two decisions. Nothing when the
// next instructions are to be followed by hand.
std::optional<PacketWalker::Stop> PacketWalker::follow_graph() {
  if (bit_count_ != 0 || next_.kind != Flow::none) {
    return std::nullopt;
  }
  BlockIndex way = no_block;
  while (!run_->is_long()) {
    if (packets_->is_exact()) {
      way = follow_exact(way);
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
    if (way == no_block) {
      way = graph_->at(address_);
      if (way == no_block) {
        return std::nullopt;
      }
    }
    if (packet->kind == PacketKind::tnt) {
      way = follow_bits(way, *packet);
      packets_->pop();
      if (bit_count_ != 0) {
        return std::nullopt;
      }
    } else if (packet->kind == PacketKind::tip) {
      const BlockIndex to = follow_target(way, *packet);
      if (to == no_block) {
        break;
      }
      way = to;
      packets_->pop();
    } else if (!packet->has_ip && (*graph_)[way].ends_with(BasicBlock::End::system)) {
      enter_system(way, *packet);
      packets_->pop();
      return Stop::off;
    } else {
      break;
    }
  }
  if (way != no_block) {
    address_ = graph_->ends(way).begin;
  }
  return run_->is_long() ? std::optional(Stop::full) : std::nullopt;
}

} // namespace ptlens::flow
