// The way along the graph where the time of each packet is known as it is read: from the bytes to
// branches in one loop, for nearly all of a trace with cycle packets. Tells the same as the steps
// of graph_steps.cpp, which take over wherever anything but CYC, TNT, TIP and MTC comes.
#include "flow/walk/packet_walker.hpp"

namespace ptlens::flow {

// The packet that is followed, and what is known of those before it.
struct PacketWalker::Exact {
  TimeInterval last = {};   // of the last decision
  std::uint64_t before = 0; // when the last packet of control flow was sent
  std::uint64_t now = 0;    // when this one was
  // A conditional branch that is told only if a break follows before any other.
  BlockIndex held = no_block;
  TimeInterval held_in = {};
};

// Tells every branch by itself.
class PacketWalker::TellBranches {
public:
  void begin(CodeGraph& graph, RunBuilder& run) {
    graph_ = &graph;
    run_ = &run;
  }
  [[gnu::always_inline]] void pass_step(std::uint32_t number, const Moment& moment) {
    add(graph_->points().branch_of_step(number), moment);
  }
  [[gnu::always_inline]] void end_way(BlockIndex way, BranchKind kind, std::uint64_t to,
                                      BlockIndex arrival, const Moment& moment) {
    add(graph_->points().branch_of_way(way, kind, to, arrival), moment);
  }
  [[nodiscard]] bool has_many() const { return run_->has_many(); }
  void end() {}

private:
  [[gnu::always_inline]] void add(const Branch& branch, const Moment& moment) {
    run_->add_plain(timed(branch, moment.time_ns, moment.uncertainty_ns), moment.width_ns);
  }

  CodeGraph* graph_ = nullptr;
  RunBuilder* run_ = nullptr;
};

// What lies on a way to its decision happens. Ways may be added.
template <class Teller>
[[gnu::always_inline]] inline void PacketWalker::pass_exact(std::uint32_t first_step,
                                                            std::uint32_t step_count,
                                                            const Moment& moment, Teller& teller) {
  for (std::uint32_t number = first_step; number != first_step + step_count; ++number) {
    teller.pass_step(number, moment);
    if (graph_->step(number).returns) {
      returns_->push(graph_->behind_step(number));
    }
  }
}

// As PacketWalker::follow_bits.
template <class Teller>
[[gnu::flatten]] BlockIndex PacketWalker::follow_exact_bits(BlockIndex index, std::uint64_t bits,
                                                            unsigned count, std::uint8_t size,
                                                            Exact& exact, Teller& teller) {
  const unsigned own = count == tnt_room(size) ? 1 : 0; // bits left at the one that sent the packet
  const auto decided = [&](unsigned bits_left) {
    return Moment({bits_left == own ? exact.now : exact.before, exact.now});
  };
  // Of what lies before the decision that is next.
  const auto between = [&](unsigned bits_left) {
    return Moment({bits_left == count ? exact.last.earliest : exact.before, exact.now});
  };
  BlockIndex held = exact.held;
  unsigned held_left = 0; // bits left at the one that is held, 0: from an earlier packet
  std::uint64_t instructions = 0;
  unsigned left = count;
  CodeGraph& graph = *graph_;
  const BasicBlock* ways = graph.ways();
  do {
    const BasicBlock way = ways[index];
    const bool taken = (bits >> (left - 1U) & 1U) != 0;
    if (way.ends_with(BasicBlock::End::conditional)) {
      const BlockIndex edge = taken ? way.taken : way.not_taken;
      if (edge == no_block) [[unlikely]] {
        if (graph.take(index, taken) == no_block) {
          break;
        }
        ways = graph.ways();
        continue; // with the way where it now is
      }
      instructions += way.instructions;
      if (way.step_count != 0) {
        held = no_block;
        pass_exact(way.first_step, way.step_count, between(left), teller);
        ways = graph.ways();
      }
      if (taken && way.untold != 0) {
        held = index;
        held_left = left;
      } else if (taken) {
        held = no_block;
        teller.end_way(index, BranchKind::cond, graph.ends(edge).begin, edge, decided(left));
      }
      index = edge;
    } else if (way.ends_with(BasicBlock::End::ret) && taken &&
               (way.calls != 0 || !returns_->empty())) {
      held = no_block;
      instructions += way.instructions;
      if (way.step_count != 0) {
        pass_exact(way.first_step, way.step_count, between(left), teller);
      }
      const ReturnPoint point = returns_->pop().value_or(ReturnPoint{});
      const BlockIndex to = point.way != no_block ? point.way : graph.at(point.address);
      ways = graph.ways();
      teller.end_way(index, BranchKind::ret, point.address, to, decided(left));
      index = to;
      if (index == no_block) {
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
    const bool came_to_own = own != 0 && (left == 0 || (left == own && index != no_block));
    exact.last = {came_to_own ? exact.now : exact.before, exact.now};
  }
  if (left != 0) {
    address_ = index == no_block ? address_ : graph.ends(index).begin;
    index = no_block;
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
  return index;
}

// As PacketWalker::follow_target.
template <class Teller>
[[gnu::flatten]] BlockIndex PacketWalker::follow_exact_target(BlockIndex index,
                                                              std::uint64_t target,
                                                              const Exact& exact, Teller& teller) {
  CodeGraph& graph = *graph_;
  const BasicBlock way = graph[index];
  BranchKind kind = BranchKind::indirect;
  BlockIndex to = no_block;
  switch (static_cast<BasicBlock::End>(way.end)) {
  case BasicBlock::End::call:
    kind = BranchKind::call;
    to = graph.go(target);
    break;
  case BasicBlock::End::ret:
    kind = BranchKind::ret;
    to = way.calls == 0 && returns_->leads_to(target) ? returns_->top().way : graph.go(target);
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
  instructions_ += way.instructions;
  if (way.step_count != 0) {
    pass_exact(way.first_step, way.step_count, Moment({exact.last.earliest, exact.now}), teller);
  }
  if (kind == BranchKind::call) {
    returns_->push(graph.behind(index));
  } else if (kind == BranchKind::ret) {
    returns_->pop();
  }
  teller.end_way(index, kind, target, to, Moment({exact.now, exact.now}));
  return to;
}

// From the way, or from address_ where that is none, as far as the packets allow; then the same of
// where that is.
BlockIndex PacketWalker::follow_exact(BlockIndex index) {
  if (graph_->detail() == Detail::folded) {
    return follow_exact(index, folder_);
  }
  TellBranches branches;
  return follow_exact(index, branches);
}

template <class Teller>
BlockIndex PacketWalker::follow_exact(BlockIndex index, Teller& teller) {
  PacketStream::Exact packets = packets_->exact();
  if (!run_->is_plain_from(packets.flow_ns)) {
    return index;
  }
  if (index == no_block) {
    index = graph_->at(address_);
    if (index == no_block) {
      return no_block;
    }
  }
  const perfdata::TimeConversion::Fast conversion(packets_->conversion());
  Exact exact{.last = run_->last(),
              .before = packets.flow_ns,
              .now = conversion.to_ns(packets.clock.latest())};
  teller.begin(*graph_, *run_);
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
      index = follow_exact_bits(index, raw.payload, raw.count, raw.size, exact, teller);
    } else if (raw.kind == RawKind::tip && raw.count != 0) {
      const std::uint64_t target = decompressed(raw, packets.last_ip);
      const BlockIndex to = follow_exact_target(index, target, exact, teller);
      if (to == no_block) {
        parser.move_to(at);
        break;
      }
      index = to;
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
    if (index == no_block || teller.has_many()) {
      break;
    }
  }
  packets.parser = parser;
  packets.clock = clock;
  packets.after_cycles = after_cycles;
  packets.passed = passed;
  packets.flow_ns = exact.before;
  packets_->go_on_from(packets);
  teller.end();
  run_->decide_plain(exact.last);
  if (exact.held != no_block) {
    hold(exact.held, Moment(exact.held_in));
  }
  if (index != no_block) {
    address_ = graph_->ends(index).begin;
  }
  return index;
}

} // namespace ptlens::flow
