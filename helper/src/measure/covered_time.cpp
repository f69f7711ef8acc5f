// A sweep over the calls of a function in order of their start: what begins before the last outer
// one has ended lies in it. Only calls that the store has marked as inside any call of their
// function can be covered, and only those that one of these begins in can cover it. Where these are
// few, what else there is can be left out, whole blocks of it unread.
#include "measure/covered_time.hpp"

#include "base/large_pages.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace ptlens::measure {

namespace {

struct TimedCall {
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t on_cpu = 0;
  std::uint32_t edge = 0; // index

  // What begins with another and is longer lies around it.
  friend bool operator<(const TimedCall& one, const TimedCall& other) {
    return one.start != other.start ? one.start < other.start : one.latency > other.latency;
  }
};

using TimedCalls = std::vector<TimedCall, LargePages<TimedCall>>;

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

// What is looked at together: the calls of one function, group and thread.
struct Covering {
  std::span<const EdgeCalls* const> edges;
  std::uint32_t thread = 0;
  bool few_inner = false;
  std::vector<std::uint64_t> inner_starts; // of the few, ascending
  TimedCalls timed;

  [[nodiscard]] bool matters(const store::BlockEntry& entry) const {
    const auto next = std::ranges::lower_bound(inner_starts, entry.first_start);
    return !few_inner || (next != inner_starts.end() && *next <= entry.last_end);
  }
  void add_timed(const BlockReader& reader, std::uint32_t edge, TimedCalls& into) const;
};

// Adds the calls of the block that matter.
void Covering::add_timed(const BlockReader& reader, std::uint32_t edge, TimedCalls& into) const {
  std::vector<std::uint64_t> on_cpu(reader.latencies().begin(), reader.latencies().end());
  for (const AwayCall& call : reader.away()) {
    on_cpu[call.at] = call.on_cpu();
  }
  auto next = inner_starts.begin(); // not before the call's start
  for (std::size_t i = 0; i < reader.starts().size(); ++i) {
    const std::uint64_t start = reader.starts()[i];
    const std::uint64_t latency = reader.latencies()[i];
    if (few_inner && reader.inner()[i] == 0) {
      if (i == 0 || (next != inner_starts.begin() && *std::prev(next) >= start)) {
        next = std::ranges::lower_bound(inner_starts, start);
      }
      next = std::find_if(next, inner_starts.end(),
                          [start](std::uint64_t inner) { return inner >= start; });
      if (next == inner_starts.end() || *next - start >= latency) {
        continue;
      }
    }
    into.push_back({.start = start, .latency = latency, .on_cpu = on_cpu[i], .edge = edge});
  }
}

struct TimedBlock {
  std::uint32_t covering = 0; // index
  std::uint32_t edge = 0;     // of the covering
  const store::BlockEntry* entry = nullptr;
};

class CoverFinder {
public:
  CoverFinder(const store::CallStore& store, std::span<const BlockReader> readers,
              std::span<const EdgeCalls> calls)
      : store_(store), readers_(readers) {
    for (const EdgeCalls& each : calls) {
      functions_[{each.group, store.edge(each.edge).function}].push_back(&each);
    }
    for (const auto& [function, edges] : functions_) {
      add_coverings(edges);
    }
  }

  [[nodiscard]] std::vector<CoveredTime> find() {
    find_inner_starts();
    find_timed();
    constexpr std::size_t coverings_a_part = 4;
    const std::size_t parts = parts_of(coverings_.size(), coverings_a_part);
    std::vector<std::vector<CoveredTime>> found(parts);
    do_parts(parts, [&](std::size_t part) {
      for (std::size_t at = part; at < coverings_.size(); at += parts) {
        sweep(coverings_[at], found[part]);
      }
    });
    std::vector<CoveredTime> all;
    for (const std::vector<CoveredTime>& part : found) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

private:
  void add_coverings(std::span<const EdgeCalls* const> edges);
  template <class Wanted>
  [[nodiscard]] std::vector<TimedBlock> blocks(const Wanted& wanted) const;
  template <class Found, class Use>
  [[nodiscard]] std::vector<Found> read(std::span<const TimedBlock> blocks, const Use& use) const;
  void find_inner_starts();
  void find_timed();
  static void sweep(Covering& covering, std::vector<CoveredTime>& found);

  const store::CallStore& store_;
  std::span<const BlockReader> readers_;
  // By group and function.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const EdgeCalls*>> functions_;
  std::vector<Covering> coverings_;
};

void CoverFinder::add_coverings(std::span<const EdgeCalls* const> edges) {
  constexpr std::uint64_t few = 4; // times as many are all
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
      coverings_.push_back({.edges = edges,
                            .thread = thread,
                            .few_inner = inner[thread] < all[thread] / few,
                            .inner_starts = {},
                            .timed = {}});
    }
  }
}

// Those that `wanted` says of the covering and the entry.
template <class Wanted>
std::vector<TimedBlock> CoverFinder::blocks(const Wanted& wanted) const {
  std::vector<TimedBlock> blocks;
  for (std::uint32_t number = 0; number < coverings_.size(); ++number) {
    const Covering& covering = coverings_[number];
    for (std::uint32_t edge = 0; edge < covering.edges.size(); ++edge) {
      for (const store::BlockEntry& entry :
           std::ranges::equal_range(store_.blocks(covering.edges[edge]->edge), covering.thread, {},
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
std::vector<Found> CoverFinder::read(std::span<const TimedBlock> blocks, const Use& use) const {
  constexpr std::size_t blocks_a_part = 64;
  const std::size_t parts = parts_of(blocks.size(), blocks_a_part);
  std::vector<Found> found(parts);
  do_parts(parts, [&](std::size_t part) {
    std::vector<BlockReader> readers(readers_.begin(), readers_.end());
    const std::size_t end = (part + 1) * blocks.size() / parts;
    for (std::size_t at = part * blocks.size() / parts; at < end; ++at) {
      const TimedBlock& block = blocks[at];
      if (at + 1 < end) {
        store_.prefetch(*blocks[at + 1].entry);
      }
      BlockReader& reader = readers[coverings_[block.covering].edges[block.edge]->group];
      if (reader.read(*block.entry, BlockReader::Columns::timed)) {
        use(reader, block, found[part]);
      }
    }
  });
  return found;
}

void CoverFinder::find_inner_starts() {
  using Starts = std::vector<std::pair<std::uint32_t, std::uint64_t>>; // by covering
  const auto add = [](const BlockReader& reader, const TimedBlock& block, Starts& found) {
    for (std::size_t i = 0; i < reader.starts().size(); ++i) {
      if (reader.inner()[i] != 0) {
        found.emplace_back(block.covering, reader.starts()[i]);
      }
    }
  };
  const auto wanted = [](const Covering& covering, const store::BlockEntry& entry) {
    return covering.few_inner && entry.inner != 0;
  };
  for (const Starts& part : read<Starts>(blocks(wanted), add)) {
    for (const auto& [covering, start] : part) {
      coverings_[covering].inner_starts.push_back(start);
    }
  }
  for (Covering& covering : coverings_) {
    std::ranges::sort(covering.inner_starts);
  }
}

void CoverFinder::find_timed() {
  using Timed = std::vector<std::pair<std::uint32_t, TimedCalls>>; // by covering
  const auto add = [this](const BlockReader& reader, const TimedBlock& block, Timed& found) {
    if (found.empty() || found.back().first != block.covering) {
      found.emplace_back(block.covering, TimedCalls());
    }
    coverings_[block.covering].add_timed(reader, block.edge, found.back().second);
  };
  const auto wanted = [](const Covering& covering, const store::BlockEntry& entry) {
    return covering.matters(entry);
  };
  for (const Timed& part : read<Timed>(blocks(wanted), add)) {
    for (const auto& [covering, timed] : part) {
      TimedCalls& into = coverings_[covering].timed;
      into.insert(into.end(), timed.begin(), timed.end());
    }
  }
}

void CoverFinder::sweep(Covering& covering, std::vector<CoveredTime>& found) {
  merge_runs(covering.timed);
  std::vector<WideSum> covered(covering.edges.size());
  const TimedCall* outer = nullptr;
  for (const TimedCall& call : covering.timed) {
    if (outer != nullptr && call.start < outer->start + outer->latency) {
      covered[call.edge] += call.on_cpu;
    } else {
      outer = &call;
    }
  }
  for (std::size_t edge = 0; edge < covered.size(); ++edge) {
    found.push_back(
        {.calls = covering.edges[edge], .thread = covering.thread, .on_cpu = covered[edge]});
  }
}

} // namespace

std::vector<CoveredTime> covered_times(const store::CallStore& store,
                                       std::span<const BlockReader> readers,
                                       std::span<const EdgeCalls> calls) {
  return CoverFinder(store, readers, calls).find();
}

} // namespace ptlens::measure
