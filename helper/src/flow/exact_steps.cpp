// The way along the graph where the time of each packet is known as it is read: from the bytes to
// branches in one loop, for nearly all of a trace with cycle packets. Tells the same as the steps
// of graph_steps.cpp, which take over wherever anything but CYC, TNT, TIP and MTC comes.
#include "flow/packet_walker.hpp"

namespace ptlens::flow {

// The packet that is followed, and what is known of those before it.
struct PacketWalker::Exact {
  TimeInterval last = {};   // of the last decision
  std::uint64_t before = 0; // when the last packet of control flow was sent
  std::uint64_t now = 0;    // when this one was
  // A conditional branch that is told only if a break follows before any other.
  WayIndex held = no_way;
  TimeInterval held_in = {};
};

// The branch by which a way ends.
[[gnu::always_inline]] inline void PacketWalker::end_way(WayIndex index, BranchKind kind,
                                                         std::uint64_t to, WayIndex arrival,
                                                         const Moment& moment) {
  const Way& way = (*graph_)[index];
  run_->add_plain({.time_ns = moment.time_ns,
                   .from = way.end_address,
                   .to = to,
                   .spread_ns = moment.spread_ns,
                   .kind = kind,
                   .from_size = way.end_size,
                   .exit = CodeGraph::number_of_way(index),
                   .arrival = CodeGraph::number_of_way(arrival)},
                  moment.width_ns);
}

// What lies on a way to its decision happens. Ways may be added.
[[gnu::flatten]] void PacketWalker::pass_exact(std::uint32_t first_step, std::uint32_t end_step,
                                               const Moment& moment) {
  for (std::uint32_t number = first_step; number != end_step; ++number) {
    const Step& step = graph_->step(number);
    run_->add_plain({.time_ns = moment.time_ns,
                     .from = step.from,
                     .to = step.to,
                     .spread_ns = moment.spread_ns,
                     .kind = step.kind,
                     .from_size = step.from_size,
                     .exit = CodeGraph::number_of_step(number),
                     .arrival = CodeGraph::number_of_step(number)},
                    moment.width_ns);
    if (step.returns) {
      returns_->push(graph_->behind_step(number));
    }
  }
}

// As PacketWalker::follow_bits.
[[gnu::flatten]] WayIndex PacketWalker::follow_exact_bits(WayIndex index, std::uint64_t bits,
                                                          unsigned count, std::uint8_t size,
                                                          Exact& exact) {
  const std::uint8_t room = tnt_room(size);
  const unsigned own = count == room ? 1 : 0; // bits left at the one that sent the packet
  const Moment reported({exact.before, exact.now});
  const Moment sent({exact.now, exact.now});
  // Of what lies before the decision that is next.
  const auto between = [&](unsigned bits_left) {
    return bits_left == count ? Moment({exact.last.earliest, exact.now}) : reported;
  };
  WayIndex held = exact.held;
  unsigned held_left = 0; // bits left at the one that is held, 0: from an earlier packet
  std::uint64_t instructions = 0;
  unsigned left = count;
  CodeGraph& graph = *graph_;
  const Way* ways = graph.ways();
  do {
    const Way& way = ways[index];
    const bool taken = (bits >> (left - 1U) & 1U) != 0;
    if (way.ends_with(Way::End::conditional)) {
      WayIndex edge = taken ? way.taken : way.not_taken;
      if (edge == no_way) [[unlikely]] {
        edge = graph.take(index, taken);
        ways = graph.ways();
        if (edge == no_way) {
          break;
        }
        continue; // with the way where it now is
      }
      instructions += way.instructions;
      const bool untold = way.untold != 0;
      if (way.step_count != 0) {
        held = no_way;
        pass_exact(way.first_step, way.first_step + way.step_count, between(left));
        ways = graph.ways();
      }
      if (taken && untold) {
        held = index;
        held_left = left;
      } else if (taken) {
        held = no_way;
        end_way(index, BranchKind::cond, ways[edge].begin, edge, left == own ? sent : reported);
      }
      index = edge;
    } else if (way.ends_with(Way::End::ret) && taken && (way.calls != 0 || !returns_->empty())) {
      held = no_way;
      instructions += way.instructions;
      if (way.step_count != 0) {
        pass_exact(way.first_step, way.first_step + way.step_count, between(left));
      }
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      const WayIndex to = point.way != no_way ? point.way : graph.at(point.address);
      ways = graph.ways();
      end_way(index, BranchKind::ret, point.address, to, left == own ? sent : reported);
      index = to;
      if (index == no_way) {
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
  if (held != no_way && held_left != 0) {
    exact.held_in = {held_left == own ? exact.now : exact.before, exact.now};
  }
  if (left != count) {
    const bool came_to_own = own != 0 && (left == 0 || (left == own && index != no_way));
    exact.last = {came_to_own ? exact.now : exact.before, exact.now};
  }
  if (left != 0) {
    address_ = index == no_way ? address_ : ways[index].begin;
    index = no_way;
    bits_ = bits;
    bit_count_ = static_cast<std::uint8_t>(left);
    bits_packet_ = Packet{.value = bits,
                          .earliest_ns = exact.now,
                          .latest_ns = exact.now,
                          .reported_ns = exact.before,
                          .size = size,
                          .bit_count = static_cast<std::uint8_t>(count),
                          .room = room,
                          .timed = true};
  }
  return index;
}

// As PacketWalker::follow_target.
WayIndex PacketWalker::follow_exact_target(WayIndex index, std::uint64_t target,
                                           const Exact& exact) {
  CodeGraph& graph = *graph_;
  const Way way = graph[index];
  BranchKind kind = BranchKind::indirect;
  WayIndex to = no_way;
  switch (static_cast<Way::End>(way.end)) {
  case Way::End::call:
    kind = BranchKind::call;
    to = graph.go(index, target);
    break;
  case Way::End::ret:
    kind = BranchKind::ret;
    to = way.calls == 0 && returns_->leads_to(target) ? returns_->top().way
                                                      : graph.go(index, target);
    break;
  case Way::End::jump:
    to = graph.go(index, target);
    break;
  default:
    break;
  }
  if (to == no_way) {
    return no_way;
  }
  instructions_ += way.instructions;
  if (way.step_count != 0) {
    pass_exact(way.first_step, way.first_step + way.step_count,
               Moment({exact.last.earliest, exact.now}));
  }
  if (kind == BranchKind::call) {
    returns_->push(graph.behind(index));
  } else if (kind == BranchKind::ret) {
    returns_->pop();
  }
  end_way(index, kind, target, to, Moment({exact.now, exact.now}));
  return to;
}

// From the way, or from address_ where that is none, as far as the packets allow; then the same of
// where that is.
WayIndex PacketWalker::follow_exact(WayIndex index) {
  PacketStream::Exact packets = packets_->exact();
  if (!run_->is_plain_from(packets.flow_ns)) {
    return index;
  }
  if (index == no_way) {
    index = graph_->at(address_);
    if (index == no_way) {
      return no_way;
    }
  }
  const perfdata::TimeConversion::Fast conversion(packets_->conversion());
  Exact exact{.last = run_->last(),
              .before = packets.flow_ns,
              .now = conversion.to_ns(packets.clock.latest())};
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
      index = follow_exact_bits(index, raw.payload, raw.count, raw.size, exact);
    } else if (raw.kind == RawKind::tip && raw.count != 0) {
      const std::uint64_t target = decompressed(raw, packets.last_ip);
      const WayIndex to = follow_exact_target(index, target, exact);
      if (to == no_way) {
        parser.move_to(at);
        break;
      }
      index = to;
      exact.held = no_way;
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
    if (index == no_way || run_->has_many()) {
      break;
    }
  }
  packets.parser = parser;
  packets.clock = clock;
  packets.after_cycles = after_cycles;
  packets.passed = passed;
  packets.flow_ns = exact.before;
  packets_->go_on_from(packets);
  run_->decide_plain(exact.last);
  if (exact.held != no_way) {
    const CodeGraph& graph = *graph_;
    const Way& way = graph[exact.held];
    run_->hold({.from = way.end_address,
                .to = graph[way.taken].begin,
                .kind = BranchKind::cond,
                .from_size = way.end_size,
                .exit = CodeGraph::number_of_way(exact.held),
                .arrival = CodeGraph::number_of_way(way.taken)},
               Moment(exact.held_in));
  }
  if (index != no_way) {
    address_ = (*graph_)[index].begin;
  }
  return index;
}

} // namespace ptlens::flow
