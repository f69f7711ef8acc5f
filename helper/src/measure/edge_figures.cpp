// Blocks to figures. A block is read once, and again where a percentile of a large set lies in a
// bucket of several values.
#include "measure/edge_figures.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>

namespace ptlens::measure {

namespace {

using Columns = BlockReader::Columns;

std::uint64_t on_cpu_of(const AwayCall& call) {
  const std::uint64_t off = call.blocked + call.preempted;
  return call.latency > off ? call.latency - off : 0;
}

// Processors with AVX2 do several calls at once.
#ifdef __x86_64__
#define PTLENS_ALSO_FOR_AVX2 [[gnu::target_clones("avx2", "default")]]
#else
#define PTLENS_ALSO_FOR_AVX2
#endif

struct Sums {
  std::uint64_t latency = 0;
  std::uint64_t squares = 0;
  std::uint64_t self = 0;
};

constexpr unsigned most_bits_of_squared = 32;

// Of latencies below 2^32, so few and so short that no sum overflows.
PTLENS_ALSO_FOR_AVX2 Sums sums_of(const std::uint64_t* latencies, const std::uint64_t* children,
                                  std::size_t count) {
  constexpr std::uint64_t low = 0xffffffff;
  Sums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t latency = latencies[i];
    sums.latency += latency;
    sums.squares += (latency & low) * (latency & low);
    sums.self += latency > children[i] ? latency - children[i] : 0;
  }
  return sums;
}

Tally tally_of(const BlockReader& reader) {
  Tally tally;
  const auto latencies = reader.latencies();
  const auto children = reader.children();
  for (const std::uint64_t latency : latencies) {
    tally.least = std::min(tally.least, latency);
    tally.most = std::max(tally.most, latency);
  }
  const auto bits = static_cast<unsigned>(std::bit_width(tally.most));
  if (bits < most_bits_of_squared &&
      2 * bits + static_cast<unsigned>(std::bit_width(latencies.size())) <= 64) {
    const Sums sums = sums_of(latencies.data(), children.data(), latencies.size());
    tally.calls = latencies.size();
    tally.latency = sums.latency;
    tally.squares = sums.squares;
    tally.self = sums.self;
  } else {
    for (std::size_t i = 0; i < latencies.size(); ++i) {
      const std::uint64_t latency = latencies[i];
      tally.add_latency(latency);
      tally.self += latency > children[i] ? latency - children[i] : 0;
    }
  }
  tally.on_cpu = tally.latency;
  for (const AwayCall& call : reader.away()) {
    tally.on_cpu -= call.latency - on_cpu_of(call);
    tally.outside += call.outside;
    tally.blocked += call.blocked;
    tally.preempted += call.preempted;
    tally.switches += call.switches;
    tally.off_cpu_calls += call.was_off_cpu() ? 1 : 0;
  }
  return tally;
}

// Sorts what is made of sorted stretches, a few long ones most of the time.
void merge_runs(TimedCalls& calls) {
  std::vector<std::size_t> ends;
  for (auto at = calls.begin(); at != calls.end();) {
    at = std::is_sorted_until(at, calls.end());
    ends.push_back(static_cast<std::size_t>(at - calls.begin()));
  }
  TimedCalls merged(ends.size() > 1 ? calls.size() : 0);
  while (ends.size() > 1) {
    std::vector<std::size_t> merged_ends;
    std::size_t begin = 0;
    for (std::size_t run = 0; run < ends.size(); run += 2) {
      const std::size_t middle = ends[run];
      const std::size_t end = ends[std::min(run + 1, ends.size() - 1)];
      const std::span all(calls);
      std::ranges::merge(all.subspan(begin, middle - begin), all.subspan(middle, end - middle),
                         merged.begin() + static_cast<std::ptrdiff_t>(begin), std::less<>());
      merged_ends.push_back(end);
      begin = end;
    }
    ends = std::move(merged_ends);
    calls.swap(merged);
  }
}

} // namespace

EdgeFigures::EdgeFigures(const store::CallStore& store, std::span<const Admitted> admitted,
                         const Sets& sets)
    : store_(store), asked_(sets), sets_(sets.count), most_(sets.count) {
  for (const Admitted& each : admitted) {
    readers_.emplace_back(store, each);
  }
}

// Calls `use` with the number of each set that the calls belong to.
template <class Use>
void EdgeFigures::each_set(const EdgeCalls& calls, std::uint32_t thread, const Use& use) {
  if (calls.set != no_set) {
    use(calls.set);
  }
  if (calls.threads != no_set) {
    use(calls.threads + thread);
  }
}

void EdgeFigures::Set::begin(std::uint64_t most) {
  if (ranks.empty()) {
    ranks.emplace_back(percentile_shares, most);
    ranks.emplace_back(resolution_share, most);
  }
}

void EdgeFigures::Set::add(Set part) {
  for (std::size_t state = 0; state < states.size(); ++state) {
    states.at(state) += part.states.at(state);
  }
  tally.add(part.tally);
  for (std::size_t width = 0; width < away_widths.size(); ++width) {
    away_widths.at(width) += part.away_widths.at(width);
  }
  if (ranks.empty()) {
    ranks = std::move(part.ranks);
    return;
  }
  for (std::size_t i = 0; i < part.ranks.size(); ++i) {
    ranks[i].add(part.ranks[i]);
  }
}

// Also counts how many calls a set may have.
std::vector<EdgeFigures::Stretch> EdgeFigures::stretches_of(std::span<const EdgeCalls> calls) {
  constexpr std::size_t most_blocks = 16;
  std::vector<Stretch> stretches;
  for (const EdgeCalls& each : calls) {
    auto left = store_.blocks(each.edge);
    for (const store::BlockEntry& entry : left) {
      each_set(each, entry.thread, [&](std::uint32_t set) { most_[set] += entry.calls; });
      most_[0] += is_part(each.set) ? entry.calls : 0;
    }
    while (!left.empty()) {
      const std::size_t count = std::min(left.size(), most_blocks);
      stretches.push_back({.calls = &each, .blocks = left.first(count)});
      left = left.subspan(count);
    }
  }
  return stretches;
}

// Calls `use` with each part, the calls and the entry of each of its blocks, on a thread a part.
template <class Use>
void EdgeFigures::each_block(std::span<Part> parts, const Use& use) const {
  do_parts(parts.size(), [&](std::size_t number) {
    for (const Stretch& stretch : parts[number].stretches) {
      for (std::size_t at = 0; at < stretch.blocks.size(); ++at) {
        if (at + 1 < stretch.blocks.size()) {
          store_.prefetch(stretch.blocks[at + 1]);
        }
        use(parts[number], *stretch.calls, stretch.blocks[at]);
      }
    }
  });
}

void EdgeFigures::count(Part& part, const EdgeCalls& calls, const store::BlockEntry& entry) const {
  BlockReader& reader = part.readers[calls.group];
  if (!reader.read(entry, Columns::figures)) {
    return;
  }
  const Tally tally = tally_of(reader);
  each_set(calls, entry.thread, [&](std::uint32_t number) {
    Set& set = part.sets[number];
    set.begin(most_[number]);
    for (std::size_t state = 0; state < set.states.size(); ++state) {
      set.states.at(state) += reader.states().at(state);
    }
    set.tally.add(tally);
    set.ranks[0].add(reader.latencies());
    set.ranks[1].add(reader.resolutions());
    if (number >= asked_.with_histogram && !is_part(number)) {
      return;
    }
    for (const AwayCall& call : reader.away()) {
      set.away_widths.at(static_cast<std::size_t>(std::bit_width(call.latency))) +=
          call.was_off_cpu() ? 1 : 0;
    }
  });
}

// The sets are aimed. Also for the set that the calls belong to as a part.
void EdgeFigures::count_again(Part& part, const EdgeCalls& calls,
                              const store::BlockEntry& entry) const {
  const auto each = [&](const auto& use) {
    const auto use_again = [&](std::uint32_t number) {
      if (sets_[number].any_again()) {
        use(number);
      }
    };
    each_set(calls, entry.thread, use_again);
    if (is_part(calls.set)) {
      use_again(0);
    }
  };
  bool any = false;
  each([&](std::uint32_t) { any = true; });
  const auto block = any ? store_.block(entry) : std::nullopt;
  if (!block) {
    return;
  }
  const store::Column::Bounds latencies = block->latency.bounds();
  const store::Column::Bounds resolutions = block->resolution.bounds();
  bool wanted = false;
  each([&](std::uint32_t number) {
    const Set& set = sets_[number];
    wanted = wanted || (set.again && set.ranks[0].wants(latencies.least, latencies.most)) ||
             (set.resolutions_again && set.ranks[1].wants(resolutions.least, resolutions.most));
  });
  BlockReader& reader = part.readers[calls.group];
  if (!wanted || !reader.read(entry, Columns::ranked)) {
    return;
  }
  each([&](std::uint32_t number) {
    Set& set = part.sets[number];
    if (set.ranks.empty()) {
      set.ranks = sets_[number].ranks;
    }
    if (sets_[number].again) {
      set.ranks[0].add_again(reader.latencies());
    }
    if (sets_[number].resolutions_again) {
      set.ranks[1].add_again(reader.resolutions());
    }
  });
}

// Refers to the stretches.
std::vector<EdgeFigures::Part> EdgeFigures::divide(std::span<const Stretch> stretches) const {
  constexpr std::size_t stretches_a_part = 4;
  const std::size_t count = parts_of(stretches.size(), stretches_a_part);
  std::vector<Part> parts;
  parts.reserve(count);
  for (std::size_t number = 0; number < count; ++number) {
    const std::size_t begin = number * stretches.size() / count;
    const std::size_t end = (number + 1) * stretches.size() / count;
    parts.push_back(
        {.stretches = stretches.subspan(begin, end - begin), .readers = readers_, .sets = {}});
  }
  return parts;
}

// What the aimed sets still want of the calls.
void EdgeFigures::read_again(std::span<Part> parts) {
  each_block(parts, [this](Part& part, const EdgeCalls& each, const store::BlockEntry& entry) {
    count_again(part, each, entry);
  });
  for (const Part& part : parts) {
    for (const auto& [number, set] : part.sets) {
      for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
        sets_[number].ranks[rank].add_again(set.ranks[rank]);
      }
    }
  }
}

std::vector<SetFigures> EdgeFigures::read(std::span<const EdgeCalls> calls) {
  const std::vector<Stretch> stretches = stretches_of(calls);
  std::vector<Part> parts = divide(stretches);
  each_block(parts, [this](Part& part, const EdgeCalls& each, const store::BlockEntry& entry) {
    count(part, each, entry);
  });
  for (Part& part : parts) {
    for (auto& [number, set] : part.sets) {
      sets_[number].add(std::move(set));
    }
    part.sets.clear();
  }
  for (std::size_t number = 0; number < sets_.size(); ++number) {
    sets_[number].begin(most_[number]);
  }
  for (std::uint32_t part = asked_.first_part; part < asked_.end_part; ++part) {
    sets_[0].add(sets_[part]);
  }
  bool again = false;
  for (Set& set : sets_) {
    set.again = set.ranks[0].aim();
    set.resolutions_again = set.ranks[1].aim();
    again = again || set.any_again();
  }
  if (again) {
    read_again(parts);
  }
  std::vector<SetFigures> result;
  result.reserve(sets_.size());
  for (Set& set : sets_) {
    SetFigures& made = result.emplace_back();
    made.states = set.states;
    if (result.size() <= asked_.with_histogram) {
      WidthCounts widths{};
      set.ranks[0].each_width(
          [&](unsigned width, std::uint64_t count) { widths.at(width) += count; });
      made.histogram = buckets_of(widths, set.away_widths);
    }
    made.figures = figures_of(set.tally, set.ranks[0], set.ranks[1]);
  }
  return result;
}

// What lies in others of its function, of one group and thread.
struct EdgeFigures::Covering {
  std::span<const EdgeCalls* const> calls; // its edges
  std::uint32_t thread = 0;
  // Only calls that are inside any call of the function can be covered, and only those that one of
  // these begins in can cover it. Where these are few, what else there is can be left out.
  bool few_inner = false;
  std::vector<std::uint64_t> inner_starts; // of the few, ascending
  TimedCalls timed;

  [[nodiscard]] bool matters(const store::BlockEntry& entry) const {
    const auto next = std::ranges::lower_bound(inner_starts, entry.first_start);
    return !few_inner || (next != inner_starts.end() && *next <= entry.last_end);
  }
};

struct EdgeFigures::TimedBlock {
  std::uint32_t covering = 0; // index
  std::uint32_t edge = 0;     // of the covering
  const store::BlockEntry* entry = nullptr;
};

std::vector<EdgeFigures::Covering>
EdgeFigures::coverings_of(const std::vector<std::vector<const EdgeCalls*>>& functions) const {
  constexpr std::uint64_t few = 4; // times as many are all
  std::vector<Covering> coverings;
  for (const std::vector<const EdgeCalls*>& edges : functions) {
    std::vector<std::uint64_t> inner(store_.thread_count());
    std::vector<std::uint64_t> all(store_.thread_count());
    for (const EdgeCalls* const each : edges) {
      for (const store::BlockEntry& entry : store_.blocks(each->edge)) {
        inner[entry.thread] += entry.inner;
        all[entry.thread] += entry.calls;
      }
    }
    for (std::uint32_t thread = 0; thread < inner.size(); ++thread) {
      if (inner[thread] != 0) {
        coverings.push_back({.calls = edges,
                             .thread = thread,
                             .few_inner = inner[thread] < all[thread] / few,
                             .inner_starts = {},
                             .timed = {}});
      }
    }
  }
  return coverings;
}

// Those that `wanted` says of the covering and the entry.
template <class Wanted>
std::vector<EdgeFigures::TimedBlock> EdgeFigures::blocks_of(std::span<const Covering> coverings,
                                                            const Wanted& wanted) const {
  std::vector<TimedBlock> blocks;
  for (std::uint32_t number = 0; number < coverings.size(); ++number) {
    const Covering& covering = coverings[number];
    for (std::uint32_t edge = 0; edge < covering.calls.size(); ++edge) {
      for (const store::BlockEntry& entry :
           std::ranges::equal_range(store_.blocks(covering.calls[edge]->edge), covering.thread, {},
                                    &store::BlockEntry::thread)) {
        if (wanted(covering, entry)) {
          blocks.push_back({.covering = number, .edge = edge, .entry = &entry});
        }
      }
    }
  }
  return blocks;
}

// Calls `use` with each block that can be read, its reader, and what the part has found so far.
template <class Found, class Use>
std::vector<Found> EdgeFigures::read_timed(std::span<const Covering> coverings,
                                           std::span<const TimedBlock> blocks,
                                           const Use& use) const {
  constexpr std::size_t blocks_a_part = 64;
  const std::size_t parts = parts_of(blocks.size(), blocks_a_part);
  std::vector<Found> found(parts);
  do_parts(parts, [&](std::size_t part) {
    std::vector<BlockReader> readers = readers_;
    const std::size_t end = (part + 1) * blocks.size() / parts;
    for (std::size_t at = part * blocks.size() / parts; at < end; ++at) {
      const TimedBlock& block = blocks[at];
      if (at + 1 < end) {
        store_.prefetch(*blocks[at + 1].entry);
      }
      BlockReader& reader = readers[coverings[block.covering].calls[block.edge]->group];
      if (reader.read(*block.entry, Columns::timed)) {
        use(reader, block, found[part]);
      }
    }
  });
  return found;
}

void EdgeFigures::find_inner_starts(std::span<Covering> coverings) const {
  using Starts = std::vector<std::pair<std::uint32_t, std::uint64_t>>; // by covering
  const std::vector<TimedBlock> blocks =
      blocks_of(coverings, [](const Covering& covering, const store::BlockEntry& entry) {
        return covering.few_inner && entry.inner != 0;
      });
  for (const Starts& part :
       read_timed<Starts>(coverings, blocks,
                          [](const BlockReader& reader, const TimedBlock& block, Starts& found) {
                            for (std::size_t i = 0; i < reader.starts().size(); ++i) {
                              if (reader.inner()[i] != 0) {
                                found.emplace_back(block.covering, reader.starts()[i]);
                              }
                            }
                          })) {
    for (const auto& [covering, start] : part) {
      coverings[covering].inner_starts.push_back(start);
    }
  }
  for (Covering& covering : coverings) {
    std::ranges::sort(covering.inner_starts);
  }
}

// Adds the calls of the block that matter.
void EdgeFigures::add_timed(const Covering& covering, const BlockReader& reader, std::uint32_t edge,
                            TimedCalls& timed) {
  std::vector<std::uint64_t> on_cpu(reader.latencies().begin(), reader.latencies().end());
  for (const AwayCall& call : reader.away()) {
    on_cpu[call.at] = on_cpu_of(call);
  }
  const std::vector<std::uint64_t>& inner_starts = covering.inner_starts;
  auto next = inner_starts.begin(); // not before the call's start
  for (std::size_t i = 0; i < reader.starts().size(); ++i) {
    const std::uint64_t start = reader.starts()[i];
    const std::uint64_t latency = reader.latencies()[i];
    if (covering.few_inner && reader.inner()[i] == 0) {
      if (i == 0 || (next != inner_starts.begin() && *std::prev(next) >= start)) {
        next = std::ranges::lower_bound(inner_starts, start);
      }
      next = std::find_if(next, inner_starts.end(),
                          [start](std::uint64_t inner) { return inner >= start; });
      if (next == inner_starts.end() || *next - start >= latency) {
        continue;
      }
    }
    timed.push_back({.start = start, .latency = latency, .on_cpu = on_cpu[i], .edge = edge});
  }
}

void EdgeFigures::cover(std::span<const EdgeCalls> calls) {
  constexpr std::size_t coverings_a_part = 4;
  std::map<GroupedFunction, std::vector<const EdgeCalls*>> by_function;
  for (const EdgeCalls& each : calls) {
    by_function[function_of(each)].push_back(&each);
  }
  std::vector<std::vector<const EdgeCalls*>> functions;
  functions.reserve(by_function.size());
  for (auto& [function, edges] : by_function) {
    functions.push_back(std::move(edges));
  }
  std::vector<Covering> coverings = coverings_of(functions);
  find_inner_starts(coverings);
  const std::vector<TimedBlock> blocks =
      blocks_of(coverings, [](const Covering& covering, const store::BlockEntry& entry) {
        return covering.matters(entry);
      });
  using Found = std::vector<std::pair<std::uint32_t, TimedCalls>>; // by covering
  for (const Found& part : read_timed<Found>(
           coverings, blocks,
           [&](const BlockReader& reader, const TimedBlock& block, Found& found) {
             if (found.empty() || found.back().first != block.covering) {
               found.emplace_back(block.covering, TimedCalls());
             }
             add_timed(coverings[block.covering], reader, block.edge, found.back().second);
           })) {
    for (const auto& [covering, timed] : part) {
      TimedCalls& into = coverings[covering].timed;
      into.insert(into.end(), timed.begin(), timed.end());
    }
  }
  const std::size_t parts = parts_of(coverings.size(), coverings_a_part);
  do_parts(parts, [&](std::size_t part) {
    for (std::size_t at = part; at < coverings.size(); at += parts) {
      add_covered(coverings[at]);
    }
  });
}

// To sets that hold calls of no other covering.
void EdgeFigures::add_covered(Covering& covering) {
  TimedCalls& timed = covering.timed;
  merge_runs(timed);
  std::vector<WideSum> covered(covering.calls.size());
  const TimedCall* outer = nullptr;
  for (const TimedCall& call : timed) {
    if (outer != nullptr && call.start < outer->start + outer->latency) {
      covered[call.edge] += call.on_cpu;
    } else {
      outer = &call;
    }
  }
  for (std::size_t edge = 0; edge < covered.size(); ++edge) {
    each_set(*covering.calls[edge], covering.thread,
             [&](std::uint32_t set) { sets_[set].tally.covered_on_cpu += covered[edge]; });
  }
}

} // namespace ptlens::measure
