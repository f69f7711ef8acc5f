// The loop that follows the graph where the time of each packet is known as it is read: from the
// bytes to branches, for nearly all of a trace with cycle packets. It emits the same branches as
// graph_walk.cpp, which takes over wherever anything but CYC, TNT, TIP and MTC comes. The loop also
// follows a system call from which the thread returns to the next instruction.
//
// The loop is a template over what takes its branches. A Sink has these members:
//   void begin(RunBuilder& run);
//   void take_direct(DirectBranchId id, DirectBranch& branch, const UncertainTime& time);
//   // The following three take the branch that ends the block.
//   void take_conditional(BlockId block, BlockId reached, const UncertainTime& time);
//   void take_return(BlockId block, std::uint64_t to, BlockId reached, const UncertainTime& time);
//   void take_indirect(BlockId block, BranchKind kind, const CodeGraph::Target& target,
//                      const UncertainTime& time);
//   // A system call at the end of the block. It returned to the next instruction.
//   void take_system_call(const SystemCall& call);
//   bool has_many() const;                     // enough for a run
//   void end();
#pragma once

#include "flow/code/code_time.hpp"
#include "flow/walk/packet_walker.hpp"
#include "flow/walk/system_call.hpp"

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
    DirectBranch& branch = graph_->labels(id);
    sink.take_direct(id, branch, time);
    if (branch.returns) {
      returns_->push(branch.behind != no_block ? ReturnPoint{branch.address_behind(), branch.behind}
                                               : graph_->behind(id));
    }
  }
}

// Does what PacketWalker::follow_bits() does. The oldest bit is the highest of `bits`.
template <class Sink>
[[gnu::flatten]] BlockId PacketWalker::follow_exact_bits(BlockId id, std::uint64_t bits,
                                                         unsigned count, std::uint8_t size,
                                                         Exact& exact, Sink& sink) {
  const unsigned own = count == tnt_room(size) ? 1 : 0; // bits left at the bit that sent the packet
  const std::uint64_t before = exact.before;
  const std::uint64_t now = exact.now;
  const auto decided = [&](unsigned bits_left) {
    return UncertainTime({bits_left == own ? now : before, now});
  };
  // The time of what happened before the next decision.
  const auto between = [&](unsigned bits_left) {
    return UncertainTime({bits_left == count ? exact.last.earliest : before, now});
  };
  BlockId held = exact.held;
  unsigned held_left = 0; // bits left at the held branch, 0: from an earlier packet
  std::uint64_t instructions = 0;
  unsigned left = count;
  CodeGraph& graph = *graph_;
  const BasicBlock* blocks = graph.blocks();
  do {
    const BasicBlock block = blocks[index_of(id)];
    const bool taken = (bits >> 63U) != 0;
    if (block.ends_with(BasicBlock::End::conditional)) {
      const BlockId edge = blocks[index_of(id)].edge(taken);
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
      const bool holds = taken && block.hidden != 0;
      held = holds ? id : held;
      held_left = holds ? left : held_left;
      if (taken && block.hidden == 0) [[unlikely]] {
        held = no_block;
        sink.take_conditional(id, edge, decided(left));
      }
      id = edge;
    } else if (block.ends_with(BasicBlock::End::ret) && taken &&
               (block.calls != 0 || !returns_->empty())) {
      held = no_block;
      instructions += block.instructions;
      if (block.direct_count != 0) {
        pass_exact(block, between(left), sink);
        blocks = graph.blocks();
      }
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      BlockId to = point.block;
      if (to == no_block) [[unlikely]] {
        to = graph.at(point.address);
        blocks = graph.blocks();
      }
      sink.take_return(id, point.address, to, decided(left));
      id = to;
      if (id == no_block) [[unlikely]] {
        address_ = point.address;
        bits <<= 1U;
        --left;
        break;
      }
    } else {
      break;
    }
    bits <<= 1U;
    --left;
  } while (left != 0);
  instructions_ += instructions;
  exact.held = held;
  if (held != no_block && held_left != 0) {
    exact.held_in = {held_left == own ? now : before, now};
  }
  if (left != count) {
    const bool came_to_own = own != 0 && (left == 0 || (left == own && id != no_block));
    exact.last = {came_to_own ? now : before, now};
  }
  if (left != 0) [[unlikely]] {
    leave_bits(id, bits >> (64U - left), left,
               Packet{.earliest_ns = now,
                      .latest_ns = now,
                      .reported_ns = before,
                      .size = size,
                      .bit_count = static_cast<std::uint8_t>(count),
                      .room = tnt_room(size),
                      .timed = true});
    return no_block;
  }
  return id;
}

// Does what PacketWalker::follow_target() does.
template <class Sink>
[[gnu::flatten]] BlockId PacketWalker::follow_exact_target(BlockId id, std::uint64_t address,
                                                           const Exact& exact, Sink& sink) {
  CodeGraph& graph = *graph_;
  const BasicBlock block = graph[id];
  const UncertainTime now({exact.now, exact.now});
  const auto pass = [&] {
    instructions_ += block.instructions;
    if (block.direct_count != 0) {
      pass_exact(block, UncertainTime({exact.last.earliest, exact.now}), sink);
    }
  };
  if (block.ends_with(BasicBlock::End::ret)) {
    const BlockId to = block.calls == 0 && returns_->leads_to(address) ? returns_->top().block
                                                                       : graph.go(address).block;
    if (to != no_block) {
      pass();
      returns_->pop();
      sink.take_return(id, address, to, now);
    }
    return to;
  }
  const bool calls = block.ends_with(BasicBlock::End::call);
  if (!calls && !block.ends_with(BasicBlock::End::jump)) {
    return no_block;
  }
  const CodeGraph::Target target = graph.go(address);
  if (target.block == no_block) {
    return no_block;
  }
  pass();
  if (calls) {
    returns_->push(graph.behind(id));
  }
  sink.take_indirect(id, calls ? BranchKind::call : BranchKind::indirect, target, now);
  return target.block;
}

// Follows a system call, whose PGD packet without an address was passed, to the PGE packet at which
// it returns. Returns the block there; no_block, having followed nothing, where another packet of
// control flow comes, or the thread or the code may be another one then.
template <class Sink>
[[gnu::noinline]] BlockId PacketWalker::follow_exact_system_call(BlockId id,
                                                                 PacketStream::Exact& packets,
                                                                 Exact& exact, Sink& sink) {
  CodeGraph& graph = *graph_;
  const BasicBlock block = graph[id];
  if (!block.ends_with(BasicBlock::End::system)) {
    return no_block;
  }
  PacketParser parser = packets.parser;
  TraceClock clock = packets.clock;
  RawPacket raw;
  do {
    if (!parser.has_room()) {
      return no_block;
    }
    raw = parser.next();
  } while (clock.take(raw) || raw.kind == RawKind::pad || raw.kind == RawKind::other);
  if (raw.kind != RawKind::pge || raw.count == 0 || !clock.is_certain()) {
    return no_block;
  }
  const std::uint64_t address = decompressed(raw, packets.last_ip);
  const std::uint64_t on_ns = packets_->conversion().to_ns(clock.latest());
  if (address != graph.ends(id).address_behind() || code_time_of_on(on_ns) >= same_until_ns_) {
    return no_block;
  }
  const BlockId back = graph.behind(id).block;
  if (back == no_block) {
    return no_block;
  }
  instructions_ += block.instructions;
  if (block.direct_count != 0) {
    pass_exact(block, UncertainTime({exact.last.earliest, exact.now}), sink);
  }
  sink.take_system_call({.block = id, .off_ns = exact.now, .on_ns = on_ns});
  last_on_ns_ = on_ns;
  packets.parser = parser;
  packets.clock = clock;
  packets.last_ip = address;
  exact.held = no_block;
  exact.last = {on_ns, on_ns};
  exact.now = on_ns;
  return back;
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
  std::uint64_t cycles = 0; // of the CYC packets that the clock does not know yet
  bool after_cycles = packets.after_cycles;
  std::uint64_t last_ip = packets.last_ip;
  const std::uint8_t* passed = nullptr;
  // Sets the clock. Returns false where the time is not known exactly.
  const auto settle = [&] {
    if (after_cycles) {
      clock.on_cyc(cycles);
      cycles = 0;
      exact.now = conversion.to_ns(clock.latest());
    }
    return !clock.lost_cycles();
  };
  while (parser.has_room()) {
    const std::uint8_t first = *parser.at();
    if (PacketParser::is_cyc(first)) {
      const RawPacket raw = parser.next_cyc();
      if (raw.size == 0) [[unlikely]] {
        break;
      }
      cycles += raw.payload;
      after_cycles = true;
      continue;
    }
    if (PacketParser::is_short_tnt(first)) {
      if (!settle()) [[unlikely]] {
        break;
      }
      const auto top = static_cast<unsigned>(std::bit_width(first)) - 1;
      parser.move_to(parser.at() + 1);
      graph_->prefetch(parser.target_ahead(last_ip));
      id = follow_exact_bits(id, std::uint64_t{first} << (64 - top), top - 1, 1, exact, sink);
    } else if (PacketParser::is_tip_with_address(first)) {
      const RawPacket raw = parser.roomy_tip(first);
      const std::uint64_t target = decompressed(raw, last_ip);
      if (raw.size == 0 || !settle()) [[unlikely]] {
        break;
      }
      const BlockId to = follow_exact_target(id, target, exact, sink);
      if (to == no_block) {
        break;
      }
      id = to;
      parser.move_to(parser.at() + raw.size);
      exact.held = no_block;
      exact.last = {exact.now, exact.now};
      last_ip = target;
    } else if (PacketParser::is_pgd_without_address(first)) {
      if (!settle()) [[unlikely]] {
        break;
      }
      packets.parser = parser;
      packets.parser.move_to(parser.at() + 1);
      packets.clock = clock;
      packets.last_ip = last_ip;
      const BlockId back = follow_exact_system_call(id, packets, exact, sink);
      if (back == no_block) [[unlikely]] {
        break;
      }
      id = back;
      parser = packets.parser;
      clock = packets.clock;
      last_ip = packets.last_ip;
    } else {
      const PacketParser here = parser;
      const RawPacket raw = parser.next();
      if ((raw.kind != RawKind::mtc && raw.kind != RawKind::tnt) || !settle()) {
        parser = here;
        break;
      }
      if (raw.kind == RawKind::mtc) {
        clock.on_mtc(static_cast<std::uint8_t>(raw.payload));
        after_cycles = false;
        exact.now = conversion.to_ns(clock.latest());
        continue;
      }
      if (raw.count == 0) {
        parser = here;
        break;
      }
      id =
          follow_exact_bits(id, raw.payload << (64U - raw.count), raw.count, raw.size, exact, sink);
    }
    exact.before = exact.now;
    after_cycles = false;
    passed = parser.at();
    if (id == no_block || sink.has_many()) {
      break;
    }
  }
  static_cast<void>(settle());
  packets.parser = parser;
  packets.clock = clock;
  packets.after_cycles = after_cycles;
  packets.last_ip = last_ip;
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
