// The loop that follows the graph of basic blocks, packet by packet: one edge for each bit of a TNT
// packet, and one to the target that a TIP packet names. Where the time of each packet is known as
// it is read, as for nearly all of a trace with cycle packets, it goes from the bytes to branches.
// It also follows a system call from which the thread returns to the next instruction. Elsewhere
// it takes the packets whose times the stream has found.
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
#include "flow/walk/packet_times.hpp"
#include "flow/walk/packet_walker.hpp"
#include "flow/walk/system_call.hpp"

namespace ptlens::flow {

// Emits the direct branches inside a block. May add blocks.
template <class Sink>
[[gnu::always_inline]] inline void PacketWalker::pass(const BasicBlock& block,
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

// Follows bits; the highest of `bits` is the oldest. Returns the block that control is in
// then; no_block where the bits that are left are to be followed one instruction at a time, from
// address_ on.
template <class Times, class Sink>
[[gnu::flatten]] BlockId PacketWalker::follow_bits(BlockId id, std::uint64_t bits, unsigned count,
                                                   const Times& times, HeldBranch& last_held,
                                                   Sink& sink) {
  BlockId held = last_held.block;
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
        pass(block, times.between(left), sink);
        blocks = graph.blocks();
      }
      const bool holds = taken && block.hidden != 0;
      held = holds ? id : held;
      held_left = holds ? left : held_left;
      if (taken && block.hidden == 0) [[unlikely]] {
        held = no_block;
        sink.take_conditional(id, edge, times.decided(left));
      }
      id = edge;
    } else if (block.ends_with(BasicBlock::End::ret) && taken &&
               (block.calls != 0 || !returns_->empty())) {
      held = no_block;
      instructions += block.instructions;
      if (block.direct_count != 0) {
        pass(block, times.between(left), sink);
        blocks = graph.blocks();
      }
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      BlockId to = point.block;
      if (to == no_block) [[unlikely]] {
        to = graph.at(point.address);
        blocks = graph.blocks();
      }
      sink.take_return(id, point.address, to, times.decided(left));
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
  last_held.block = held;
  if (held != no_block && held_left != 0) {
    last_held.in = times.interval(held_left);
    last_held.not_before = times.not_before();
  }
  times.end(left, id);
  if (left != 0) [[unlikely]] {
    leave_bits(id, bits >> (64U - left), left, times.packet());
    return no_block;
  }
  return id;
}

// Follows the target that a packet names. Returns the block there; no_block, having followed
// nothing, where no code is known there or the block does not end by an indirect transfer.
template <class Times, class Sink>
[[gnu::flatten]] BlockId PacketWalker::follow_target(BlockId id, std::uint64_t address,
                                                     const Times& times, Sink& sink) {
  CodeGraph& graph = *graph_;
  const BasicBlock block = graph[id];
  const auto pass_block = [&] {
    instructions_ += block.instructions;
    if (block.direct_count != 0) {
      pass(block, times.between(1), sink);
    }
  };
  if (block.ends_with(BasicBlock::End::ret)) {
    const BlockId to = block.calls == 0 && returns_->leads_to(address) ? returns_->top().block
                                                                       : graph.go(address).block;
    if (to != no_block) {
      pass_block();
      returns_->pop();
      sink.take_return(id, address, to, times.decided(1));
      times.end(0, to);
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
  pass_block();
  if (calls) {
    returns_->push(graph.behind(id));
  }
  sink.take_indirect(id, calls ? BranchKind::call : BranchKind::indirect, target, times.decided(1));
  times.end(0, target.block);
  return target.block;
}

// Follows a system call, whose PGD packet without an address was passed, to the PGE packet at which
// it returns. Returns the block there; no_block, having followed nothing, where another packet of
// control flow comes, or the thread or the code may be another one then.
template <class Sink>
[[gnu::noinline]] BlockId PacketWalker::follow_system_call(BlockId id, PacketStream::Exact& packets,
                                                           ExactPacket& exact, Sink& sink) {
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
    pass(block, UncertainTime({exact.last.earliest, exact.now}), sink);
  }
  sink.take_system_call({.block = id, .off_ns = exact.now, .on_ns = on_ns});
  last_on_ns_ = on_ns;
  packets.parser = parser;
  packets.clock = clock;
  packets.last_ip = address;
  exact.held.block = no_block;
  exact.last = {on_ns, on_ns};
  exact.now = on_ns;
  return back;
}

// Follows the packets from the block. Returns the block that control is in then.
template <class Sink>
BlockId PacketWalker::follow_exact(BlockId id, Sink& sink) {
  PacketStream::Exact packets = packets_->exact();
  const perfdata::TimeConversion::Fast conversion(packets_->conversion());
  ExactPacket exact{.last = run_->last(),
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
      const unsigned count = top - 1;
      id = follow_bits(id, std::uint64_t{first} << (64 - top), count, ExactTimes(exact, count, 1),
                       exact.held, sink);
    } else if (PacketParser::is_tip_with_address(first)) {
      const RawPacket raw = parser.roomy_tip(first);
      const std::uint64_t target = decompressed(raw, last_ip);
      if (raw.size == 0 || !settle()) [[unlikely]] {
        break;
      }
      const BlockId to = follow_target(id, target, ExactTimes(exact, 1, 0), sink);
      if (to == no_block) {
        break;
      }
      id = to;
      parser.move_to(parser.at() + raw.size);
      exact.held.block = no_block;
      last_ip = target;
    } else if (PacketParser::is_pgd_without_address(first)) {
      if (!settle()) [[unlikely]] {
        break;
      }
      packets.parser = parser;
      packets.parser.move_to(parser.at() + 1);
      packets.clock = clock;
      packets.last_ip = last_ip;
      const BlockId back = follow_system_call(id, packets, exact, sink);
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
      id = follow_bits(id, raw.payload << (64U - raw.count), raw.count,
                       ExactTimes(exact, raw.count, raw.size), exact.held, sink);
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
  hold(exact.held);
  return id;
}

// Returns true where the time of each packet is known as it is read.
inline bool PacketWalker::knows_times() const {
  return packets_->is_exact() && run_->is_plain_from(packets_->flow_ns());
}

// Does the same where the stream has to find the times of the packets. Returns false after a system
// call, which is branch_ then, and where the next packet is to be followed one instruction at a
// time.
template <class Sink>
bool PacketWalker::follow_placed(BlockId& id, Sink& sink) {
  const Packet* packet = nullptr;
  const auto has_plain_packet = [&] {
    packet = packets_->peek();
    return packet != nullptr && ((packet->kind == PacketKind::tnt && packet->bit_count != 0) ||
                                 (packet->kind == PacketKind::tip && packet->has_ip) ||
                                 (packet->kind == PacketKind::pgd && !packet->has_ip));
  };
  if (!has_plain_packet()) {
    return false;
  }
  HeldBranch held;
  bool goes_on = true;
  sink.begin(*run_);
  do {
    const PlacedTimes times(*run_, *packet);
    if (packet->kind == PacketKind::tnt) {
      id = follow_bits(id, packet->value << (64U - packet->bit_count), packet->bit_count, times,
                       held, sink);
    } else if (packet->kind == PacketKind::tip) {
      const BlockId to = follow_target(id, packet->value, times, sink);
      goes_on = to != no_block;
      id = goes_on ? to : id;
      held.block = goes_on ? no_block : held.block;
    } else if ((*graph_)[id].ends_with(BasicBlock::End::system)) {
      const BasicBlock block = (*graph_)[id];
      instructions_ += block.instructions;
      pass(block, times.between(1), sink);
      enter_system(id);
      id = no_block;
    } else {
      goes_on = false;
    }
    if (!goes_on) {
      times.end(1, no_block);
      break;
    }
    packets_->pop();
    run_->place_all();
  } while (id != no_block && !sink.has_many() && !knows_times() && has_plain_packet());
  sink.end();
  run_->place_all();
  hold(held);
  return goes_on;
}

// Follows the packets from address_, for BranchConsumer::follow().
template <class Sink>
void PacketWalker::follow_packets(Sink& sink) {
  BlockId id = graph_->at(address_);
  bool goes_on = true;
  while (goes_on && id != no_block && !run_->is_long()) {
    if (knows_times()) {
      id = follow_exact(id, sink);
    }
    goes_on = id != no_block && !run_->is_long() && follow_placed(id, sink);
  }
  if (id != no_block) {
    address_ = graph_->ends(id).begin;
  }
}

} // namespace ptlens::flow
