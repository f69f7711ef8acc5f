// The loop that follows the graph where the time of each packet is known as it is read: from the
// bytes to branches, for nearly all of a trace with cycle packets. It emits the same branches as
// graph_walk.cpp, which takes over wherever anything but CYC, TNT, TIP and MTC comes.
//
// The loop is a template over what takes its branches. A Sink has these members:
//   void begin(RunBuilder& run);
//   void take_direct(DirectBranchId branch, const UncertainTime& time);
//   void take_end(BlockId block, BranchKind kind, std::uint64_t to, BlockId reached,
//                 const UncertainTime& time);  // the branch that ends the block
//   bool has_many() const;                     // enough for a run
//   void end();
#pragma once

#include "flow/walk/packet_walker.hpp"

namespace ptlens::flow {

// The packet that is followed, and what is known of the packets before it.
struct PacketWalker::Exact {
  TimeInterval last = {};   // of the last decision
  std::uint64_t before = 0; // when the last packet of control flow was sent
  std::uint64_t now = 0;    // when this packet was sent
  // A conditional branch that is emitted only if a break follows before any other branch.
  BlockId held = no_block;
  TimeInterval held_in = {};
};

// Emits the direct branches inside a block. May add blocks.
template <class Sink>
[[gnu::always_inline]] inline void PacketWalker::pass_exact(const BasicBlock& block,
                                                            const UncertainTime& time, Sink& sink) {
  const std::uint32_t first = index_of(block.first_direct);
  const std::uint32_t end = first + block.direct_count;
  for (std::uint32_t index = first; index != end; ++index) {
    const DirectBranchId id{index};
    sink.take_direct(id, time);
    if (graph_->direct(id).returns) {
      returns_->push(graph_->behind(id));
    }
  }
}

// Does what PacketWalker::follow_bits() does.
template <class Sink>
[[gnu::flatten]] BlockId PacketWalker::follow_exact_bits(BlockId id, std::uint64_t bits,
                                                         unsigned count, std::uint8_t size,
                                                         Exact& exact, Sink& sink) {
  const unsigned own = count == tnt_room(size) ? 1 : 0; // bits left at the bit that sent the packet
  const auto decided = [&](unsigned bits_left) {
    return UncertainTime({bits_left == own ? exact.now : exact.before, exact.now});
  };
  // The time of what happened before the next decision.
  const auto between = [&](unsigned bits_left) {
    return UncertainTime({bits_left == count ? exact.last.earliest : exact.before, exact.now});
  };
  BlockId held = exact.held;
  unsigned held_left = 0; // bits left at the held branch, 0: from an earlier packet
  std::uint64_t instructions = 0;
  unsigned left = count;
  CodeGraph& graph = *graph_;
  const BasicBlock* blocks = graph.blocks();
  do {
    const BasicBlock block = blocks[index_of(id)];
    const bool taken = (bits >> (left - 1U) & 1U) != 0;
    if (block.ends_with(BasicBlock::End::conditional)) {
      const BlockId edge = taken ? block.taken : block.not_taken;
      if (edge == no_block) [[unlikely]] {
        if (graph.take(id, taken) == no_block) {
          break;
        }
        blocks = graph.blocks();
        continue; // the blocks may have moved
      }
      instructions += block.instructions;
      if (block.direct_count != 0) {
        held = no_block;
        pass_exact(block, between(left), sink);
        blocks = graph.blocks();
      }
      if (taken && block.hidden != 0) {
        held = id;
        held_left = left;
      } else if (taken) {
        held = no_block;
        sink.take_end(id, BranchKind::cond, graph.ends(edge).begin, edge, decided(left));
      }
      id = edge;
    } else if (block.ends_with(BasicBlock::End::ret) && taken &&
               (block.calls != 0 || !returns_->empty())) {
      held = no_block;
      instructions += block.instructions;
      if (block.direct_count != 0) {
        pass_exact(block, between(left), sink);
      }
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      const BlockId to = point.block != no_block ? point.block : graph.at(point.address);
      blocks = graph.blocks();
      sink.take_end(id, BranchKind::ret, point.address, to, decided(left));
      id = to;
      if (id == no_block) {
        address_ = point.address;
        --left;
        break;
      }
    } else {
      break;
    }
    --left;
  } while (left != 0);
  instructions_ += instructions;
  exact.held = held;
  if (held != no_block && held_left != 0) {
    exact.held_in = {held_left == own ? exact.now : exact.before, exact.now};
  }
  if (left != count) {
    const bool came_to_own = own != 0 && (left == 0 || (left == own && id != no_block));
    exact.last = {came_to_own ? exact.now : exact.before, exact.now};
  }
  if (left != 0) {
    address_ = id == no_block ? address_ : graph.ends(id).begin;
    id = no_block;
    bits_ = bits;
    bit_count_ = static_cast<std::uint8_t>(left);
    bits_packet_ = Packet{.value = bits,
                          .earliest_ns = exact.now,
                          .latest_ns = exact.now,
                          .reported_ns = exact.before,
                          .size = size,
                          .bit_count = static_cast<std::uint8_t>(count),
                          .room = tnt_room(size),
                          .timed = true};
  }
  return id;
}

// Does what PacketWalker::follow_target() does.
template <class Sink>
[[gnu::flatten]] BlockId PacketWalker::follow_exact_target(BlockId id, std::uint64_t target,
                                                           const Exact& exact, Sink& sink) {
  CodeGraph& graph = *graph_;
  const BasicBlock block = graph[id];
  BranchKind kind = BranchKind::indirect;
  BlockId to = no_block;
  switch (static_cast<BasicBlock::End>(block.end)) {
  case BasicBlock::End::call:
    kind = BranchKind::call;
    to = graph.go(target);
    break;
  case BasicBlock::End::ret:
    kind = BranchKind::ret;
    to = block.calls == 0 && returns_->leads_to(target) ? returns_->top().block : graph.go(target);
    break;
  case BasicBlock::End::jump:
    to = graph.go(target);
    break;
  default:
    break;
  }
  if (to == no_block) {
    return no_block;
  }
  instructions_ += block.instructions;
  if (block.direct_count != 0) {
    pass_exact(block, UncertainTime({exact.last.earliest, exact.now}), sink);
  }
  if (kind == BranchKind::call) {
    returns_->push(graph.behind(id));
  } else if (kind == BranchKind::ret) {
    returns_->pop();
  }
  sink.take_end(id, kind, target, to, UncertainTime({exact.now, exact.now}));
  return to;
}

// Follows the packets from the block, or from address_ where the block is no_block. Returns the
// block that control is in then.
template <class Sink>
BlockId PacketWalker::follow_exact(BlockId id, Sink& sink) {
  PacketStream::Exact packets = packets_->exact();
  if (!run_->is_plain_from(packets.flow_ns)) {
    return id;
  }
  if (id == no_block) {
    id = graph_->at(address_);
    if (id == no_block) {
      return no_block;
    }
  }
  const perfdata::TimeConversion::Fast conversion(packets_->conversion());
  Exact exact{.last = run_->last(),
              .before = packets.flow_ns,
              .now = conversion.to_ns(packets.clock.latest())};
  sink.begin(*run_);
  PacketParser parser = packets.parser;
  TraceClock clock = packets.clock;
  bool after_cycles = packets.after_cycles;
  const std::uint8_t* passed = nullptr;
  for (;;) {
    const std::uint8_t* const at = parser.at();
    const RawPacket raw = parser.next();
    if (raw.kind == RawKind::cyc) {
      clock.on_cyc(raw.payload);
      after_cycles = true;
      if (clock.lost_cycles()) {
        break;
      }
      exact.now = conversion.to_ns(clock.latest());
      continue;
    }
    if (raw.kind == RawKind::tnt) {
      graph_->prefetch(parser.target_ahead(packets.last_ip));
      id = follow_exact_bits(id, raw.payload, raw.count, raw.size, exact, sink);
    } else if (raw.kind == RawKind::tip && raw.count != 0) {
      const std::uint64_t target = decompressed(raw, packets.last_ip);
      const BlockId to = follow_exact_target(id, target, exact, sink);
      if (to == no_block) {
        parser.move_to(at);
        break;
      }
      id = to;
      exact.held = no_block;
      exact.last = {exact.now, exact.now};
      packets.last_ip = target;
    } else if (raw.kind == RawKind::mtc) {
      clock.on_mtc(static_cast<std::uint8_t>(raw.payload));
      after_cycles = false;
      exact.now = conversion.to_ns(clock.latest());
      continue;
    } else {
      parser.move_to(at);
      break;
    }
    exact.before = exact.now;
    after_cycles = false;
    passed = parser.at();
    if (id == no_block || sink.has_many()) {
      break;
    }
  }
  packets.parser = parser;
  packets.clock = clock;
  packets.after_cycles = after_cycles;
  packets.passed = passed;
  packets.flow_ns = exact.before;
  packets_->go_on_from(packets);
  sink.end();
  run_->decide_plain(exact.last);
  if (exact.held != no_block) {
    hold(exact.held, UncertainTime(exact.held_in));
  }
  if (id != no_block) {
    address_ = graph_->ends(id).begin;
  }
  return id;
}

} // namespace ptlens::flow
