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
inline void PacketWalker::end_way(WayIndex index, BranchKind kind, std::uint64_t to,
                                  WayIndex arrival, TimeInterval interval) {
  const Way& way = (*graph_)[index];
  Branch& branch = run_->add_plain(interval);
  branch.from = way.end_address;
  branch.to = to;
  branch.kind = kind;
  branch.from_size = way.end_size;
  branch.exit = CodeGraph::number_of_way(index);
  branch.arrival = CodeGraph::number_of_way(arrival);
}

// What lies on the way to its decision happens. Ways may be added.
void PacketWalker::pass_exact(const Way& way, TimeInterval interval) {
  const std::uint32_t end = way.first_step + way.step_count;
  for (std::uint32_t number = way.first_step; number != end; ++number) {
    const Step& step = graph_->step(number);
    Branch& branch = run_->add_plain(interval);
    branch.from = step.from;
    branch.to = step.to;
    branch.kind = step.kind;
    branch.from_size = step.from_size;
    branch.exit = CodeGraph::number_of_step(number);
    branch.arrival = CodeGraph::number_of_step(number);
    if (step.returns) {
      returns_->push(graph_->behind_step(number));
    }
  }
}

// As PacketWalker::follow_bits.
WayIndex PacketWalker::follow_exact_bits(WayIndex index, const RawPacket& raw, Exact& exact) {
  const std::uint8_t room = tnt_room(raw.size);
  const bool full = raw.count == room;
  TimeInterval steps_in{exact.last.earliest, exact.now};
  TimeInterval decided{exact.before, exact.now};
  unsigned left = raw.count;
  CodeGraph& graph = *graph_;
  const Way* ways = graph.ways();
  do {
    if (full && left == 1) {
      decided.earliest = exact.now;
    }
    const Way& way = ways[index];
    const bool taken = (raw.payload >> (left - 1U) & 1U) != 0;
    if (way.ends_with(Way::End::conditional)) {
      WayIndex edge = taken ? way.taken : way.not_taken;
      if (edge == no_way) {
        edge = graph.take(index, taken);
        ways = graph.ways();
        if (edge == no_way) {
          break;
        }
        continue; // with the way where it now is
      }
      instructions_ += way.instructions;
      const bool untold = way.untold != 0;
      if (way.step_count != 0) {
        exact.held = no_way;
        pass_exact(Way(way), steps_in);
        ways = graph.ways();
      }
      if (taken && untold) {
        exact.held = index;
        exact.held_in = decided;
      } else if (taken) {
        exact.held = no_way;
        end_way(index, BranchKind::cond, ways[edge].begin, edge, decided);
      }
      index = edge;
    } else if (way.ends_with(Way::End::ret) && taken && (way.calls != 0 || !returns_->empty())) {
      exact.held = no_way;
      instructions_ += way.instructions;
      if (way.step_count != 0) {
        pass_exact(Way(way), steps_in);
        ways = graph.ways();
      }
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      const WayIndex to = point.way != no_way ? point.way : graph.at(point.address);
      ways = graph.ways();
      end_way(index, BranchKind::ret, point.address, to, decided);
      index = to;
      if (index == no_way) {
        address_ = point.address;
        --left;
        break;
      }
    } else {
      break;
    }
    steps_in.earliest = exact.before;
    --left;
  } while (left != 0);
  if (left != raw.count) {
    exact.last = decided;
  }
  if (left != 0) {
    address_ = index == no_way ? address_ : ways[index].begin;
    index = no_way;
    bits_ = raw.payload;
    bit_count_ = static_cast<std::uint8_t>(left);
    bits_packet_ = Packet{.value = raw.payload,
                          .earliest_ns = exact.now,
                          .latest_ns = exact.now,
                          .reported_ns = exact.before,
                          .size = raw.size,
                          .bit_count = raw.count,
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
    pass_exact(way, {exact.last.earliest, exact.now});
  }
  if (kind == BranchKind::call) {
    returns_->push(graph.behind(index));
  } else if (kind == BranchKind::ret) {
    returns_->pop();
  }
  end_way(index, kind, target, to, {exact.now, exact.now});
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
  const perfdata::TimeConversion conversion = packets_->conversion();
  Exact exact{.last = run_->last(), .before = packets.flow_ns, .now = packets.now_ns(conversion)};
  while (!run_->has_many()) {
    const std::uint8_t* const at = packets.parser.at();
    const RawPacket raw = packets.parser.next();
    if (raw.kind == RawKind::cyc) {
      packets.clock.on_cyc(raw.payload);
      packets.after_cycles = true;
      if (!packets.clock.is_certain()) {
        break;
      }
      exact.now = packets.now_ns(conversion);
      continue;
    }
    if (raw.kind == RawKind::tnt) {
      index = follow_exact_bits(index, raw, exact);
    } else if (raw.kind == RawKind::tip && raw.count != 0) {
      const std::uint64_t target = decompressed(raw, packets.last_ip);
      const WayIndex to = follow_exact_target(index, target, exact);
      if (to == no_way) {
        packets.parser.move_to(at);
        break;
      }
      index = to;
      exact.held = no_way;
      exact.last = {exact.now, exact.now};
      packets.last_ip = target;
    } else if (raw.kind == RawKind::mtc) {
      packets.clock.on_mtc(static_cast<std::uint8_t>(raw.payload));
      packets.after_cycles = false;
      exact.now = packets.now_ns(conversion);
      continue;
    } else {
      packets.parser.move_to(at);
      break;
    }
    exact.before = exact.now;
    packets.after_cycles = false;
    packets.passed = packets.parser.at();
    if (index == no_way) {
      break;
    }
  }
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
