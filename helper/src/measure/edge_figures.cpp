// Blocks to figures. A block is read once, and again where a percentile of a large set lies in a
// bucket of several values.
#include "measure/edge_figures.hpp"

#include <algorithm>
#include <bit>

namespace ptlens::measure {

namespace {

using Columns = BlockReader::Columns;

std::uint64_t on_cpu_of(const AwayCall& call) {
  const std::uint64_t off = call.blocked + call.preempted;
  return call.latency > off ? call.latency - off : 0;
}

Tally tally_of(const BlockReader& reader) {
  Tally tally;
  const auto latencies = reader.latencies();
  const auto children = reader.children();
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    const std::uint64_t latency = latencies[i];
    tally.add_latency(latency);
    tally.self += latency > children[i] ? latency - children[i] : 0;
  }
  tally.on_cpu = tally.latency;
  for (const AwayCall& call : reader.away()) {
    tally.on_cpu -= call.latency - on_cpu_of(call);
    tally.outside += call.outside;
    tally.blocked += call.blocked;
    tally.preempted += call.preempted;
    tally.switches += call.switches;
    tally.off_cpu_calls += call.switches != 0 || call.blocked + call.preempted != 0 ? 1 : 0;
  }
  return tally;
}

} // namespace

EdgeFigures::EdgeFigures(const store::CallStore& store, std::span<const Admitted> admitted,
                         std::uint32_t sets, std::uint32_t with_histogram)
    : store_(store), with_histogram_(with_histogram), sets_(sets) {
  for (const Admitted& each : admitted) {
    readers_.emplace_back(store, each);
  }
}

template <class Use>
void EdgeFigures::each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use) {
  if (calls.set != no_set) {
    use(sets_[calls.set]);
  }
  if (calls.also != no_set) {
    use(sets_[calls.also]);
  }
  if (calls.threads != no_set) {
    use(sets_[calls.threads + thread]);
  }
}

void EdgeFigures::count(const EdgeCalls& calls, const store::BlockEntry& entry) {
  BlockReader& reader = readers_[calls.group];
  if (!reader.read(entry, Columns::figures)) {
    return;
  }
  const Tally tally = tally_of(reader);
  each_set(calls, entry.thread, [&](Set& set) {
    for (std::size_t state = 0; state < set.states.size(); ++state) {
      set.states.at(state) += reader.states().at(state);
    }
    set.tally.add(tally);
    set.ranks[0].add(reader.latencies());
    set.ranks[1].add(reader.resolutions());
    if (&set < &sets_[0] + with_histogram_) {
      for (const AwayCall& call : reader.away()) {
        const bool off = call.switches != 0 || call.blocked + call.preempted != 0;
        set.away_widths.at(static_cast<std::size_t>(std::bit_width(call.latency))) += off ? 1 : 0;
      }
    }
  });
}

void EdgeFigures::count_again(const EdgeCalls& calls, const store::BlockEntry& entry) {
  BlockReader& reader = readers_[calls.group];
  bool wanted = false;
  each_set(calls, entry.thread,
           [&](const Set& set) { wanted = wanted || set.again || set.resolutions_again; });
  if (!wanted || !reader.read(entry, Columns::ranked)) {
    return;
  }
  each_set(calls, entry.thread, [&](Set& set) {
    if (set.again) {
      set.ranks[0].add_again(reader.latencies());
    }
    if (set.resolutions_again) {
      set.ranks[1].add_again(reader.resolutions());
    }
  });
}

std::vector<SetFigures> EdgeFigures::read(std::span<const EdgeCalls> calls) {
  const auto each_block = [&](const auto& use) {
    for (const EdgeCalls& each : calls) {
      for (const store::BlockEntry& entry : store_.blocks(each.edge)) {
        use(each, entry);
      }
    }
  };
  each_block([&](const EdgeCalls& each, const store::BlockEntry& entry) {
    each_set(each, entry.thread, [&](Set& set) { set.most += entry.calls; });
  });
  for (Set& set : sets_) {
    set.ranks.emplace_back(percentile_shares, set.most);
    set.ranks.emplace_back(resolution_share, set.most);
  }
  each_block([&](const EdgeCalls& each, const store::BlockEntry& entry) { count(each, entry); });
  bool again = false;
  for (Set& set : sets_) {
    set.again = set.ranks[0].aim();
    set.resolutions_again = set.ranks[1].aim();
    again = again || set.again || set.resolutions_again;
  }
  if (again) {
    each_block(
        [&](const EdgeCalls& each, const store::BlockEntry& entry) { count_again(each, entry); });
  }
  std::vector<SetFigures> result;
  result.reserve(sets_.size());
  for (Set& set : sets_) {
    SetFigures& made = result.emplace_back();
    made.states = set.states;
    if (result.size() <= with_histogram_) {
      WidthCounts widths{};
      set.ranks[0].each_width(
          [&](unsigned width, std::uint64_t count) { widths.at(width) += count; });
      made.histogram = buckets_of(widths, set.away_widths);
    }
    made.figures = figures_of(set.tally, set.ranks[0], set.ranks[1]);
  }
  return result;
}

void EdgeFigures::cover(std::span<const EdgeCalls> calls, std::span<const std::uint32_t> between) {
  std::vector<GroupedFunction> functions; // whose calls may be covered
  for (const EdgeCalls& each : calls) {
    if (std::ranges::any_of(store_.blocks(each.edge),
                            [](const store::BlockEntry& entry) { return entry.inner != 0; })) {
      functions.push_back(function_of(each));
    }
  }
  std::ranges::sort(functions);
  const auto repeats = std::ranges::unique(functions);
  functions.erase(repeats.begin(), repeats.end());
  if (functions.empty()) {
    return;
  }
  Ancestry ancestry(store_, between);
  for (std::uint32_t thread = 0; thread < ancestry.threads(); ++thread) {
    ancestry.enter(thread);
    for (std::size_t first = 0; first < functions.size(); first += marks_at_once) {
      const std::size_t count = std::min(marks_at_once, functions.size() - first);
      cover(calls, std::span(functions).subspan(first, count), thread, ancestry);
    }
  }
}

void EdgeFigures::cover(std::span<const EdgeCalls> calls,
                        std::span<const GroupedFunction> functions, std::uint32_t thread,
                        Ancestry& ancestry) {
  // Calls `use` with the mark of the call's function.
  const auto each_block = [&](const auto& use) {
    for (const EdgeCalls& each : calls) {
      const GroupedFunction function = function_of(each);
      const auto at = std::ranges::lower_bound(functions, function);
      if (at == functions.end() || *at != function) {
        continue;
      }
      for (const store::BlockEntry& entry : store_.blocks(each.edge)) {
        if (entry.thread == thread) {
          use(each, entry, static_cast<Marks>(1U << static_cast<unsigned>(at - functions.begin())));
        }
      }
    }
  };
  bool inner = false;
  each_block([&](const EdgeCalls&, const store::BlockEntry& entry, Marks) {
    inner = inner || entry.inner != 0;
  });
  if (!inner) {
    return;
  }
  ancestry.clear();
  each_block([&](const EdgeCalls& each, const store::BlockEntry& entry, Marks mark) {
    BlockReader& reader = readers_[each.group];
    if (reader.read(entry, Columns::placed)) {
      for (const std::uint32_t order : reader.orders()) {
        ancestry.mark(order, mark);
      }
    }
  });
  ancestry.settle();
  each_block([&](const EdgeCalls& each, const store::BlockEntry& entry, Marks mark) {
    BlockReader& reader = readers_[each.group];
    if (entry.inner == 0 || !reader.read(entry, Columns::placed)) {
      return;
    }
    WideSum covered = 0;
    const auto away = reader.away();
    std::size_t next = 0; // of them
    for (std::uint32_t i = 0; i < reader.orders().size(); ++i) {
      const bool is_away = next < away.size() && away[next].at == i;
      if (reader.inner()[i] != 0 && (ancestry.of(reader.parents()[i]) & mark) != 0) {
        covered += is_away ? on_cpu_of(away[next]) : reader.latencies()[i];
      }
      next += is_away ? 1 : 0;
    }
    each_set(each, thread, [&](Set& set) { set.tally.covered_on_cpu += covered; });
  });
}

} // namespace ptlens::measure
