// A call that runs within the time of another one on its thread is nested in it, unless a root
// began meanwhile, as after a gap. The parents of calls that begin at the same time as the call, or
// when it ends, decide whether they are nested in it.
#include "measure/timeline/nested_calls.hpp"

#include "measure/timeline/call_tree.hpp"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <utility>

namespace ptlens::measure {

namespace {

using cache::BlockEntry;
using cache::EdgeId;
using cache::Window;

bool overlap(const BlockEntry& entry, const Window& window) {
  return entry.thread == window.thread && entry.first_start <= window.end &&
         entry.last_end >= window.begin;
}

// Returns whether all calls of the block begin and end within the window.
bool is_inside(const BlockEntry& entry, const Window& window) {
  return entry.thread == window.thread && entry.first_start > window.begin &&
         entry.last_end < window.end;
}

class NestedCounter {
public:
  NestedCounter(const Measurement& measurement, const StoredCall& call)
      : cache_(*measurement.cache), call_(call), window_(call.window()) {}

  // `below` ascends.
  std::optional<std::uint64_t> count(std::span<const EdgeId> below) {
    for (const EdgeId edge : cache_.edges()) {
      const bool is_root = cache_.edge(edge).caller == stacks::FunctionId::none;
      const bool counts = std::ranges::binary_search(below, edge);
      for (const BlockEntry& entry : cache_.blocks(edge)) {
        const bool inside = is_inside(entry, window_);
        if (is_root && inside) {
          return std::nullopt;
        }
        if (inside) {
          count_ += counts ? entry.calls : 0;
        } else if (overlap(entry, window_) && !take(entry, is_root, counts)) {
          return std::nullopt;
        }
      }
    }
    for (const auto& [order, call] : at_ends_) {
      if (!call.counts || !call.is_tied()) {
        continue;
      }
      const auto nested = is_nested(order);
      if (!nested) {
        return std::nullopt;
      }
      count_ += *nested ? 1 : 0;
    }
    return count_;
  }

private:
  // A call that was open when the call began or ended. All parents of tied ones are such calls.
  struct AtEnds {
    enum class Begins : std::uint8_t { before, with_call, in_call, at_end };
    Begins begins = Begins::before;
    std::uint32_t parent = 0; // its own order: none
    bool counts = false;

    [[nodiscard]] bool is_tied() const {
      return begins == Begins::with_call || begins == Begins::at_end;
    }
  };

  using Begins = AtEnds::Begins;

  // Returns false where a root began within the call.
  bool take(const BlockEntry& entry, bool is_root, bool counts) {
    const auto block = cache_.block(entry);
    if (!block) {
      return true;
    }
    block->read_starts(entry, sized_for(entry, starts_));
    block->read_orders(entry, sized_for(entry, orders_));
    block->read_walls(entry, sized_for(entry, walls_));
    block->distance.read(sized_for(entry, distances_));
    for (std::size_t at = 0; at < entry.calls; ++at) {
      const std::uint64_t start = starts_[at];
      const bool in_call = start > window_.begin && start < window_.end;
      if (in_call && is_root) {
        return false;
      }
      count_ += in_call && counts ? 1 : 0;
      const std::uint64_t end = start + walls_[at];
      const bool at_begin = start <= window_.begin && end >= window_.begin;
      if (start <= window_.end && (at_begin || end >= window_.end)) {
        at_ends_.emplace(orders_[at], AtEnds{.begins = start < window_.begin    ? Begins::before
                                                       : start == window_.begin ? Begins::with_call
                                                       : in_call                ? Begins::in_call
                                                                                : Begins::at_end,
                                             .parent = orders_[at] - distances_[at],
                                             .counts = counts});
      }
    }
    return true;
  }

  // Returns nothing in a damaged file.
  [[nodiscard]] std::optional<bool> is_nested(std::uint32_t order) const {
    for (std::size_t step = 0; step <= at_ends_.size(); ++step) {
      const auto found = at_ends_.find(order);
      if (found == at_ends_.end()) {
        return std::nullopt;
      }
      if (order == call_.order || !found->second.is_tied()) {
        return step > 0 && found->second.begins != Begins::before;
      }
      if (found->second.parent == order) {
        return false;
      }
      order = found->second.parent;
    }
    return std::nullopt;
  }

  const cache::CallCache& cache_;
  const StoredCall& call_;
  Window window_;
  std::uint64_t count_ = 0;
  std::unordered_map<std::uint32_t, AtEnds> at_ends_; // by order
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> walls_;
  std::vector<std::uint32_t> orders_;
  std::vector<std::uint32_t> distances_;
};

} // namespace

std::optional<std::uint64_t> count_nested(const Measurement& measurement,
                                          std::span<const EdgeId> below, const StoredCall& call) {
  return NestedCounter(measurement, call).count(below);
}

Window first_part(const Measurement& measurement, std::span<const EdgeId> edges,
                  const Window& window, std::size_t most) {
  std::vector<std::pair<std::uint64_t, std::size_t>> ends; // of blocks, and their calls
  for (const EdgeId edge : edges) {
    for (const BlockEntry& entry : measurement.cache->blocks(edge)) {
      if (is_inside(entry, window)) {
        ends.emplace_back(entry.last_end, entry.calls);
      }
    }
  }
  std::ranges::sort(ends);
  std::size_t calls = 0;
  for (const auto& [end, count] : ends) {
    calls += count;
    if (calls >= most) {
      return {.thread = window.thread, .begin = window.begin, .end = end};
    }
  }
  return window;
}

PlacedCall place_of(const CallSubset& subset, std::uint32_t row) {
  const stacks::CallTable& calls = subset.calls();
  return {.window = {.thread = calls.thread[row],
                     .begin = calls.start[row],
                     .end = calls.start[row] + calls.wall(row)},
          .order = index_of(subset.order(row))};
}

std::optional<std::uint32_t> row_of(const CallSubset& subset, const PlacedCall& call) {
  const stacks::CallTable& calls = subset.calls();
  const auto rows = std::views::iota(0U, static_cast<std::uint32_t>(calls.size()));
  const auto place = [&](std::uint32_t row) {
    return std::pair(calls.thread[row], calls.start[row]);
  };
  const auto same =
      std::ranges::equal_range(rows, std::pair(call.window.thread, call.window.begin), {}, place);
  const auto found = std::ranges::find(
      same, call.order, [&](std::uint32_t row) { return index_of(subset.order(row)); });
  return found == same.end() ? std::nullopt : std::optional(*found);
}

FirstChildren read_first_children(const Measurement& measurement, stacks::FunctionId function,
                                  std::span<const PlacedCall> calls, std::size_t most) {
  constexpr std::size_t times_more = 8;
  CallsNeeded made_by(measurement);
  made_by.add_calls_made_by(function);
  const std::vector<EdgeId> edges = made_by.edges();
  CallsNeeded needed = made_by;
  needed.add_calls_of(function);
  FirstChildren read;
  for (const PlacedCall& call : calls) {
    read.windows.push_back(first_part(measurement, edges, call.window, most));
  }
  // Some calls of these edges may be of nested activations of the function.
  for (std::size_t wanted = most * times_more;; wanted *= times_more) {
    read.subset = needed.read(read.windows);
    bool is_enough = true;
    for (std::size_t at = 0; at < calls.size(); ++at) {
      const auto row = row_of(read.subset, calls[at]);
      if (read.windows[at].end < calls[at].window.end && row &&
          children_of(read.subset.calls(), *row).size() < most) {
        read.windows[at] = first_part(measurement, edges, calls[at].window, wanted);
        is_enough = false;
      }
    }
    if (is_enough) {
      return read;
    }
  }
}

} // namespace ptlens::measure
