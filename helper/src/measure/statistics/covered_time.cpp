// Nested calls are found by a sweep over the calls of a function in order of start. Only calls that
// the cache marks as nested can be nested among the accepted calls, and only calls during which one
// of these starts can contain them. Both are few, so that most blocks are not read.
//
// Where all complete calls of a function are accepted, the cache's marks decide by themselves,
// except during calls that are not complete: these may be what the marked calls are nested in.
#include "measure/statistics/covered_time.hpp"

#include "base/large_pages.hpp"
#include "base/parallel.hpp"
#include "stacks/calls/self_nesting.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace ptlens::measure {

namespace {

struct TimedCall {
  std::uint64_t start = 0;
  std::uint64_t wall = 0;
  std::uint64_t on_cpu = 0;
  std::uint32_t edge = 0; // position in the list

  // Of two calls that start together the longer one is the outer one.
  friend bool operator<(const TimedCall& one, const TimedCall& other) {
    return one.start != other.start ? one.start < other.start : one.wall > other.wall;
  }
};

using Columns = cache::BlockReader::Columns;
using TimedCalls = std::vector<TimedCall, LargePages<TimedCall>>;

// Sorts a list that consists of sorted runs, most often of a few long ones.
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

// Returns the time on a CPU of the call at that index, ns. `next`: the first of the calls that were
// away whose index is not lower than that of the previous call asked about.
std::uint64_t on_cpu(const cache::BlockReader& reader, std::size_t call,
                     std::span<const cache::AwayCall>::iterator& next) {
  next = std::find_if(next, reader.away().end(),
                      [call](const cache::AwayCall& each) { return each.at >= call; });
  const bool was_away = next != reader.away().end() && next->at == call;
  return was_away ? next->on_cpu() : reader.latencies()[call];
}

// The calls of one function, or of folded functions, on one thread.
struct Covering {
  std::span<const std::uint32_t> edges; // positions in the list
  std::uint32_t thread = 0;
  bool folded = false; // any call may be nested, whatever the cache marks
  // The cache's marks decide outside these times; null: nowhere.
  const CallTimes* unmarked = nullptr;
  std::vector<std::uint64_t> starts; // of the calls that may be nested, ascending
  TimedCalls timed;

  [[nodiscard]] bool is_decided(std::uint64_t first, std::uint64_t last) const {
    return unmarked != nullptr && !unmarked->overlap(thread, first, last);
  }

  [[nodiscard]] bool matters(const cache::BlockEntry& entry) const {
    if (folded) {
      return true;
    }
    const auto next = std::ranges::lower_bound(starts, entry.first_start);
    return next != starts.end() && *next <= entry.last_end;
  }
  void add_timed(const cache::BlockReader& reader, std::uint32_t edge, TimedCalls& into) const;
};

// Adds the calls of the block that may be nested, and the calls during which one of these starts.
void Covering::add_timed(const cache::BlockReader& reader, std::uint32_t edge,
                         TimedCalls& into) const {
  auto away = reader.away().begin();
  auto next = starts.begin(); // not before the call's start
  for (std::size_t i = 0; i < reader.starts().size(); ++i) {
    const std::uint64_t start = reader.starts()[i];
    const std::uint64_t wall = reader.walls()[i];
    if (i == 0 || (next != starts.begin() && *std::prev(next) >= start)) {
      next = std::ranges::lower_bound(starts, start);
    }
    next = std::find_if(next, starts.end(), [start](std::uint64_t each) { return each >= start; });
    if (!folded && (next == starts.end() ||
                    (*next - start >= wall && (*next != start || reader.inner()[i] == 0)))) {
      continue;
    }
    into.push_back({.start = start, .wall = wall, .on_cpu = on_cpu(reader, i, away), .edge = edge});
  }
}

struct TimedBlock {
  std::uint32_t covering = 0; // index
  std::uint32_t edge = 0;     // position in the list
  const cache::BlockEntry* entry = nullptr;
  Columns columns = Columns::timed; // to read
};

class CoverFinder {
public:
  CoverFinder(const cache::CallCache& cache, const cache::CallFilter& filter,
              std::span<const cache::EdgeId> edges, const CoverOptions& options)
      : cache_(cache), reader_(cache, filter), edges_(edges), within_(options.within) {
    const bool accepts_all = options.within == nullptr && filter.accepts_all_complete();
    const auto is_folded = [&](stacks::FunctionId function) {
      return std::ranges::find(options.folded, function) != options.folded.end();
    };
    IdVector<stacks::FunctionId, std::uint8_t> may_have_nested(cache.function_count());
    for (const cache::EdgeId edge : edges) {
      const stacks::FunctionId function = cache.edge(edge).function;
      if (is_folded(function) ||
          std::ranges::any_of(cache.blocks(edge), [this](const cache::BlockEntry& entry) {
            return may_be_covered(entry);
          })) {
        may_have_nested[function] = 1;
      }
    }
    for (std::uint32_t at = 0; at < edges.size(); ++at) {
      const stacks::FunctionId function = cache.edge(edges[at]).function;
      if (may_have_nested[function] != 0) {
        functions_[is_folded(function) ? options.folded.front() : function].push_back(at);
      }
    }
    for (const auto& [function, positions] : functions_) {
      const bool folded = is_folded(function);
      const bool has_all = accepts_all && positions.size() == cache.edges_to(function).size();
      add_coverings(positions, folded, has_all && !folded ? times_of_partial(function) : nullptr);
    }
  }

  [[nodiscard]] std::vector<CoveredTime> find() {
    find_starts();
    std::erase_if(coverings_, [](const Covering& covering) {
      return !covering.folded && covering.starts.empty();
    });
    find_timed();
    constexpr std::size_t coverings_per_part = 4;
    const std::size_t parts = parts_of(coverings_.size(), coverings_per_part);
    std::vector<std::vector<CoveredTime>> found(parts);
    do_parts(parts, [&](std::size_t part) {
      for (std::size_t at = part; at < coverings_.size(); at += parts) {
        sweep(coverings_[at], found[part]);
      }
    });
    std::vector<CoveredTime> all = std::move(decided_);
    for (const std::vector<CoveredTime>& part : found) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

private:
  [[nodiscard]] const CallTimes* times_of_partial(stacks::FunctionId function);
  void add_coverings(std::span<const std::uint32_t> positions, bool folded,
                     const CallTimes* unmarked);
  [[nodiscard]] bool may_be_covered(const cache::BlockEntry& entry) const {
    return entry.has_inner != 0 &&
           (within_ == nullptr ||
            within_->overlap(entry.thread, entry.first_start, entry.last_end));
  }
  template <class Wanted>
  [[nodiscard]] std::vector<TimedBlock> blocks(const Wanted& wanted) const;
  template <class Found, class Use>
  [[nodiscard]] std::vector<Found> read(std::span<const TimedBlock> blocks, const Use& use) const;
  void find_starts();
  void find_timed();
  static void sweep(Covering& covering, std::vector<CoveredTime>& found);

  const cache::CallCache& cache_;
  cache::BlockReader reader_; // each part uses a copy of it
  std::span<const cache::EdgeId> edges_;
  const CallTimes* within_;
  std::map<stacks::FunctionId, std::vector<std::uint32_t>> functions_; // positions of their edges
  std::deque<CallTimes> partial_;                                      // for the coverings
  std::vector<Covering> coverings_;
  std::vector<CoveredTime> decided_; // by the cache's marks
};

// Returns the times of the function's calls that are not complete.
const CallTimes* CoverFinder::times_of_partial(stacks::FunctionId function) {
  const auto& [complete, incomplete, unwound] = cache_.sums(function).calls;
  std::vector<cache::EdgeId> edges; // with such calls
  if (incomplete + unwound != 0) {
    const auto all = cache_.edges_to(function);
    edges.assign(all.begin(), all.end());
  }
  return &partial_.emplace_back(cache_, edges, CallTimes::Of::partial);
}

void CoverFinder::add_coverings(std::span<const std::uint32_t> positions, bool folded,
                                const CallTimes* unmarked) {
  std::vector<std::uint8_t> may_be_covered_on(cache_.thread_count());
  for (const std::uint32_t at : positions) {
    for (const cache::BlockEntry& entry : cache_.blocks(edges_[at])) {
      may_be_covered_on[entry.thread] |= folded || may_be_covered(entry) ? 1 : 0;
    }
  }
  for (std::uint32_t thread = 0; thread < may_be_covered_on.size(); ++thread) {
    if (may_be_covered_on[thread] != 0) {
      coverings_.push_back({.edges = positions,
                            .thread = thread,
                            .folded = folded,
                            .unmarked = unmarked,
                            .starts = {},
                            .timed = {}});
    }
  }
}

// Returns the blocks for which `wanted(covering, entry)` is true.
template <class Wanted>
std::vector<TimedBlock> CoverFinder::blocks(const Wanted& wanted) const {
  std::vector<TimedBlock> blocks;
  for (std::uint32_t number = 0; number < coverings_.size(); ++number) {
    const Covering& covering = coverings_[number];
    for (const std::uint32_t at : covering.edges) {
      for (const cache::BlockEntry& entry : std::ranges::equal_range(
               cache_.blocks(edges_[at]), covering.thread, {}, &cache::BlockEntry::thread)) {
        if (wanted(covering, entry)) {
          blocks.push_back({.covering = number, .edge = at, .entry = &entry});
        }
      }
    }
  }
  return blocks;
}

// Calls `use` with each block that can be read, its reader, and the list that the part has found so
// far.
template <class Found, class Use>
std::vector<Found> CoverFinder::read(std::span<const TimedBlock> blocks, const Use& use) const {
  constexpr std::size_t blocks_per_part = 64;
  const std::size_t parts = parts_of(blocks.size(), blocks_per_part);
  std::vector<Found> found(parts);
  do_parts(parts, [&](std::size_t part) {
    cache::BlockReader reader = reader_;
    const std::size_t end = (part + 1) * blocks.size() / parts;
    for (std::size_t at = part * blocks.size() / parts; at < end; ++at) {
      const TimedBlock& block = blocks[at];
      if (at + 1 < end) {
        cache_.prefetch(*blocks[at + 1].entry);
      }
      if (reader.read(*block.entry, block.columns)) {
        use(reader, block, found[part]);
      }
    }
  });
  return found;
}

// Finds the calls that may be nested, and adds up those for which the marks of the cache decide.
void CoverFinder::find_starts() {
  struct Found {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> starts; // by covering
    std::vector<CoveredTime> decided;
  };
  const auto add = [this](const cache::BlockReader& reader, const TimedBlock& block, Found& found) {
    const Covering& covering = coverings_[block.covering];
    const bool timed = block.columns == Columns::timed;
    WideSum decided = 0;
    auto away = reader.away().begin();
    for (std::size_t i = 0; i < reader.inner().size(); ++i) {
      if (reader.inner()[i] == 0) {
        continue;
      }
      if (!timed || covering.is_decided(reader.starts()[i], reader.starts()[i])) {
        decided += on_cpu(reader, i, away);
      } else if (within_ == nullptr ||
                 within_->overlap(covering.thread, reader.starts()[i], reader.starts()[i])) {
        found.starts.emplace_back(block.covering, reader.starts()[i]);
      }
    }
    if (decided != 0) {
      found.decided.push_back({.at = block.edge, .thread = covering.thread, .on_cpu = decided});
    }
  };
  const auto wanted = [this](const Covering& covering, const cache::BlockEntry& entry) {
    return !covering.folded && may_be_covered(entry);
  };
  std::vector<TimedBlock> wanted_blocks = blocks(wanted);
  for (TimedBlock& block : wanted_blocks) {
    if (coverings_[block.covering].is_decided(block.entry->first_start, block.entry->last_end)) {
      block.columns = Columns::nested;
    }
  }
  for (const Found& part : read<Found>(wanted_blocks, add)) {
    for (const auto& [covering, start] : part.starts) {
      coverings_[covering].starts.push_back(start);
    }
    decided_.insert(decided_.end(), part.decided.begin(), part.decided.end());
  }
  for (Covering& covering : coverings_) {
    std::ranges::sort(covering.starts);
  }
}

void CoverFinder::find_timed() {
  using Timed = std::vector<std::pair<std::uint32_t, TimedCalls>>; // by covering
  const auto add = [this](const cache::BlockReader& reader, const TimedBlock& block, Timed& found) {
    if (found.empty() || found.back().first != block.covering) {
      found.emplace_back(block.covering, TimedCalls());
    }
    coverings_[block.covering].add_timed(reader, block.edge, found.back().second);
  };
  const auto wanted = [](const Covering& covering, const cache::BlockEntry& entry) {
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
  std::map<std::uint32_t, WideSum> covered; // by edge
  stacks::NestingSweep nesting;
  for (const TimedCall& call : covering.timed) {
    if (nesting.is_nested(call.start, call.wall) && !covering.is_decided(call.start, call.start)) {
      covered[call.edge] += call.on_cpu;
    }
  }
  for (const auto& [edge, on_cpu] : covered) {
    found.push_back({.at = edge, .thread = covering.thread, .on_cpu = on_cpu});
  }
}

} // namespace

CallTimes::CallTimes(const cache::CallCache& cache, std::span<const cache::EdgeId> edges, Of of)
    : times_(cache.thread_count()) {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> walls;
  std::vector<std::uint64_t> uncertainties;
  std::vector<std::uint8_t> flags;
  const auto is_wanted = [of](std::uint8_t flag) {
    return of == Of::nested ? (flag & cache::inner_bit) != 0 : (flag & cache::state_bits) != 0;
  };
  for (const cache::EdgeId edge : edges) {
    for (const cache::BlockEntry& entry : cache.blocks(edge)) {
      const bool may_be_wanted = of != Of::nested || entry.has_inner != 0;
      const auto block = may_be_wanted ? cache.block(entry) : std::nullopt;
      if (!block) {
        continue;
      }
      block->flags.read(sized_for(entry, flags));
      if (std::ranges::none_of(flags, is_wanted)) {
        continue;
      }
      block->read_starts_where(
          entry, [&](std::size_t call) { return is_wanted(flags[call]); },
          sized_for(entry, starts));
      block->read_walls(entry, sized_for(entry, walls));
      if (of == Of::partial) {
        block->uncertainty.read(sized_for(entry, uncertainties));
      }
      for (std::size_t i = 0; i < starts.size(); ++i) {
        if (is_wanted(flags[i])) {
          const bool is_bound = of == Of::partial && !cache::has_latency(flags[i]);
          const std::uint64_t longer = is_bound ? uncertainties[i] : 0;
          times_[entry.thread].emplace_back(starts[i], starts[i] + walls[i] + longer);
        }
      }
    }
  }
  for (std::vector<Time>& times : times_) {
    std::ranges::sort(times);
    std::size_t disjoint = 0;
    for (const Time& time : times) {
      if (disjoint != 0 && time.first <= times[disjoint - 1].second) {
        times[disjoint - 1].second = std::max(times[disjoint - 1].second, time.second);
      } else {
        times[disjoint++] = time;
      }
    }
    times.resize(disjoint);
    empty_ = empty_ && times.empty();
  }
}

bool CallTimes::overlap(std::uint32_t thread, std::uint64_t first, std::uint64_t last) const {
  const auto next = std::ranges::lower_bound(times_[thread], first, {}, &Time::second);
  return next != times_[thread].end() && next->first <= last;
}

std::vector<CoveredTime> covered_times(const cache::CallCache& cache,
                                       const cache::CallFilter& filter,
                                       std::span<const cache::EdgeId> edges,
                                       const CoverOptions& options) {
  return CoverFinder(cache, filter, edges, options).find();
}

} // namespace ptlens::measure
