// A call contains a point if it starts at it or before, and ends after it. Among those that do, the
// one that started last is the innermost. Most blocks contain no call that was off the CPU, and are
// not read, unless a point is in no such call.
#include "measure/places/innermost_calls.hpp"

#include "base/parallel.hpp"
#include "cache/reading/edge_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace ptlens::measure {
namespace {

using Points = std::span<const ThreadTime>;

enum class Among : std::uint8_t { off_cpu, all };

struct Source {
  cache::EdgeId edge{};
  const cache::BlockEntry* entry = nullptr;
  Points points; // that may be in its calls
};

// The innermost call at a point so far.
struct Innermost {
  cache::CallRef call;
  std::uint64_t start = 0;
  std::uint32_t order = 0;
  std::uint32_t before = 0; // how much lower the order of the first call in it is

  [[nodiscard]] auto depth() const {
    return std::tuple(start, call.block == nullptr ? 0 : call.block->thread,
                      cache::place_in_thread(start, order, before));
  }
  void take(const Innermost& other) {
    if (other.call.block != nullptr && (call.block == nullptr || depth() < other.depth())) {
      *this = other;
    }
  }
};

// Returns the points from `begin` on and before `end`.
Points within(Points points, std::uint64_t begin, std::uint64_t end) {
  const auto first = std::ranges::lower_bound(points, begin, {}, &ThreadTime::time_ns);
  const auto last = std::ranges::lower_bound(first, points.end(), end, {}, &ThreadTime::time_ns);
  return {first, last};
}

std::vector<Source> sources_of(const Measurement& measurement, std::span<const cache::EdgeId> edges,
                               Points points, Among among) {
  std::vector<Points> by_thread;
  for (const stacks::ThreadInfo& thread : measurement.threads) {
    const auto same = std::ranges::equal_range(points, thread.tid, {}, &ThreadTime::tid);
    by_thread.emplace_back(same.begin(), same.end());
  }
  std::vector<Source> sources;
  for (const cache::EdgeId edge : edges) {
    for (const cache::BlockEntry& entry : measurement.cache->blocks(edge)) {
      if (among == Among::off_cpu && entry.extras == 0) {
        continue;
      }
      const Points some = within(by_thread[entry.thread], entry.first_start, entry.last_end);
      if (!some.empty()) {
        sources.push_back({.edge = edge, .entry = &entry, .points = some});
      }
    }
  }
  return sources;
}

// Looks for points in the calls of blocks.
class Searcher {
public:
  Searcher(Points points, Among among) : points_(points), among_(among), found_(points.size()) {}

  void search(const Source& source, const cache::Block& block) {
    const cache::BlockEntry& entry = *source.entry;
    block.read_starts(entry, sized_for(entry, starts_));
    block.read_walls(entry, sized_for(entry, walls_));
    read_ = false;
    std::uint64_t last_start = 0;
    const ThreadTime* next = source.points.data();
    const ThreadTime* const end = next + source.points.size();
    for (std::uint32_t call = 0; call < entry.calls; ++call) {
      const std::uint64_t start = starts_[call];
      if (start < last_start) {
        next = source.points.data();
      }
      last_start = start;
      if (next != end && next->time_ns < start) {
        next = std::ranges::lower_bound(next, end, start, {}, &ThreadTime::time_ns);
      }
      for (const ThreadTime* at = next; at != end && at->time_ns - start < walls_[call]; ++at) {
        take(source, block, call, static_cast<std::size_t>(at - points_.data()));
      }
    }
  }

  // Returns the innermost call by point.
  [[nodiscard]] const std::vector<Innermost>& found() const { return found_; }

private:
  void take(const Source& source, const cache::Block& block, std::uint32_t call,
            std::size_t point) {
    const cache::BlockEntry& entry = *source.entry;
    if (!read_) {
      before_.assign(entry.calls, 0);
      accepted_.assign(entry.calls, among_ == Among::all);
      block.read_orders(entry, sized_for(entry, orders_));
      block.each_extra(entry, [&](std::size_t each, std::size_t extra) {
        before_[each] = static_cast<std::uint32_t>(block.before[extra]);
        const bool off =
            (block.blocked[extra] | block.preempted[extra] | block.switches[extra]) != 0;
        accepted_[each] = accepted_[each] || off;
      });
      read_ = true;
    }
    if (!accepted_[call]) {
      return;
    }
    found_[point].take({.call = {.block = &entry, .edge = source.edge, .at = call},
                        .start = starts_[call],
                        .order = orders_[call],
                        .before = before_[call]});
  }

  Points points_;
  Among among_;
  std::vector<Innermost> found_;
  // Of the block:
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> walls_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint32_t> before_;
  std::vector<bool> accepted_;
  bool read_ = false; // the last three
};

// Returns the innermost of those calls by point.
std::vector<Innermost> search(const Measurement& measurement, std::span<const cache::EdgeId> edges,
                              Points points, Among among) {
  if (points.empty()) {
    return {};
  }
  const cache::CallCache& cache = *measurement.cache;
  const std::vector<Source> sources = sources_of(measurement, edges, points, among);
  constexpr std::size_t blocks_per_part = 500;
  std::vector<Searcher> parts(parts_of(sources.size(), blocks_per_part), Searcher(points, among));
  cache::each_block(cache, sources, parts,
                    [](Searcher& part, const Source& source, const cache::Block& block) {
                      part.search(source, block);
                    });
  std::vector<Innermost> found = parts.front().found();
  for (const Searcher& part : std::span(parts).subspan(1)) {
    for (std::size_t point = 0; point < points.size(); ++point) {
      found[point].take(part.found()[point]);
    }
  }
  return found;
}

} // namespace

InnermostCalls::InnermostCalls(const Measurement& measurement, std::span<const cache::EdgeId> edges,
                               std::vector<ThreadTime> points)
    : points_(std::move(points)) {
  std::ranges::sort(points_);
  const auto repeats = std::ranges::unique(points_);
  points_.erase(repeats.begin(), repeats.end());
  const std::vector<Innermost> found = search(measurement, edges, points_, Among::off_cpu);
  const auto is_missing = [](const Innermost& each) { return each.call.block == nullptr; };
  std::vector<ThreadTime> missing;
  for (std::size_t point = 0; point < points_.size(); ++point) {
    if (is_missing(found[point])) {
      missing.push_back(points_[point]);
    }
  }
  const std::vector<Innermost> others = search(measurement, edges, missing, Among::all);
  std::vector<cache::CallRef> calls;
  auto other = others.begin();
  for (const Innermost& each : found) {
    const Innermost& innermost = is_missing(each) ? *other++ : each;
    if (is_missing(innermost)) {
      rows_.push_back(none);
    } else {
      rows_.push_back(static_cast<std::uint32_t>(calls.size()));
      calls.push_back(innermost.call);
    }
  }
  calls_ = cache::read_calls(*measurement.cache, calls);
}

std::uint32_t InnermostCalls::at(ThreadTime point) const {
  const auto found = std::ranges::lower_bound(points_, point);
  return found != points_.end() && *found == point
             ? rows_[static_cast<std::size_t>(found - points_.begin())]
             : none;
}

} // namespace ptlens::measure
