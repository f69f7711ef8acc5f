// One pass over the calls, on all cores. The limits of the axes come from the cache's directory.
#include "measure/distribution/distribution.hpp"

#include "base/parallel.hpp"
#include "cache/reading/edge_blocks.hpp"
#include "measure/distribution/latency_bins.hpp"
#include "measure/selection/call_selector.hpp"
#include "measure/selection/first_calls.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::CallState;
using stacks::CallStates;

struct Limits {
  Interval latency{.low = UINT64_MAX, .high = 0};
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
};

// The limits of complete calls' latencies are stored; those of others are read.
Limits limits_of(const cache::CallCache& cache, std::span<const stacks::FunctionId> functions,
                 CallStates states) {
  Limits limits;
  const auto widen = [&limits](std::uint64_t least, std::uint64_t most) {
    limits.latency.low = std::min(limits.latency.low, least);
    limits.latency.high = std::max(limits.latency.high, most);
  };
  std::vector<std::uint8_t> flags;
  std::vector<std::uint64_t> latencies;
  const bool complete_only = states == CallStates{CallState::complete};
  for (const stacks::FunctionId function : functions) {
    const cache::FunctionSums& sums = cache.sums(function);
    if (states.has(CallState::complete) && sums.least <= sums.most) {
      widen(sums.least, sums.most);
    }
  }
  for (const cache::EdgeBlock& source : cache::blocks_to(cache, functions)) {
    const cache::BlockEntry& entry = *source.entry;
    limits.first = std::min(limits.first, entry.first_start);
    limits.last = std::max(limits.last, entry.last_end);
    const auto block = complete_only ? std::nullopt : cache.block(entry);
    if (!block) {
      continue;
    }
    block->flags.read(sized_for(entry, flags));
    block->latency.read(sized_for(entry, latencies));
    for (std::size_t call = 0; call < entry.calls; ++call) {
      if (states.has(cache::state_of(flags[call]))) {
        widen(latencies[call], latencies[call]);
      }
    }
  }
  return limits;
}

class DistributionPart {
public:
  DistributionPart(const LatencyBins& bins, const Limits& limits, CallStates states,
                   const DistributionShape& shape)
      : bins_(&bins), limits_(limits), states_(states), columns_(shape.columns), all_(bins.size()),
        selected_(bins.size()), grid_(bins.size() * shape.columns), selected_grid_(grid_.size()),
        slowest_(shape.points) {}

  void take(cache::EdgeId edge, const cache::BlockEntry& entry, const cache::Block& block,
            std::span<const std::uint8_t> accepted) {
    block.latency.read(sized_for(entry, latencies_));
    block.read_starts(entry, sized_for(entry, starts_));
    block.flags.read(sized_for(entry, flags_));
    blocked_.resize(entry.calls);
    preempted_.resize(entry.calls);
    if (entry.extras > 0) {
      read_blocked(block, entry, blocked_);
      read_preempted(block, entry, preempted_);
    } else {
      std::ranges::fill(blocked_, 0);
      std::ranges::fill(preempted_, 0);
    }
    const double width =
        static_cast<double>(columns_) / static_cast<double>(limits_.last - limits_.first + 1);
    for (std::uint32_t call = 0; call < entry.calls; ++call) {
      if (!states_.has(cache::state_of(flags_[call])) || !cache::has_latency(flags_[call])) {
        continue;
      }
      const std::size_t bin = bins_->of(latencies_[call]);
      const auto column =
          static_cast<std::size_t>(static_cast<double>(starts_[call] - limits_.first) * width);
      const std::size_t cell = std::min(column, columns_ - 1) * bins_->size() + bin;
      add(all_[bin], call);
      ++grid_[cell];
      if (accepted[call] != 0) {
        add(selected_[bin], call);
        ++selected_grid_[cell];
      }
      if (const std::uint64_t key = ~latencies_[call]; slowest_.may_take(key)) {
        slowest_.take({.key = key,
                       .start = starts_[call],
                       .thread = entry.thread,
                       .order = call,
                       .call = {.block = &entry, .edge = edge, .at = call},
                       .marked = accepted[call] != 0});
      }
    }
  }

  void add_to(Distribution& result) const {
    for (std::size_t bin = 0; bin < all_.size(); ++bin) {
      result.all[bin].add(all_[bin]);
      result.selected[bin].add(selected_[bin]);
    }
    for (std::size_t cell = 0; cell < grid_.size(); ++cell) {
      result.grid[cell] += grid_[cell];
      result.selected_grid[cell] += selected_grid_[cell];
    }
  }
  [[nodiscard]] FirstCalls& slowest() { return slowest_; }

private:
  void add(CallSums& sums, std::uint32_t call) const {
    ++sums.calls;
    sums.time += latencies_[call];
    sums.blocked += blocked_[call];
    sums.preempted += preempted_[call];
  }

  const LatencyBins* bins_;
  Limits limits_;
  CallStates states_;
  std::size_t columns_;
  std::vector<CallSums> all_;
  std::vector<CallSums> selected_;
  std::vector<std::uint32_t> grid_;
  std::vector<std::uint32_t> selected_grid_;
  FirstCalls slowest_;
  // Of the block:
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint64_t> latencies_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> blocked_;
  std::vector<std::uint64_t> preempted_;
};

} // namespace

void CallSums::add(const CallSums& other) {
  calls += other.calls;
  time += other.time;
  blocked += other.blocked;
  preempted += other.preempted;
}

Distribution distribution(const Measurement& measurement,
                          std::span<const stacks::FunctionId> functions, const Selection& selection,
                          const DistributionShape& shape) {
  const cache::CallCache& cache = *measurement.cache;
  const CallStates states = selection.states_or({CallState::complete});
  const Limits limits = limits_of(cache, functions, states);
  Distribution result;
  result.columns = shape.columns;
  if (limits.latency.low > limits.latency.high) {
    return result;
  }
  const LatencyBins bins(limits.latency.low, limits.latency.high, shape.bins);
  constexpr std::size_t calls_per_part = 500'000;
  std::vector<DistributionPart> parts(parts_of(cache.calls(), calls_per_part),
                                      DistributionPart(bins, limits, states, shape));
  each_judged_block(measurement, functions, selection, parts,
                    [](DistributionPart& part, cache::EdgeId edge, const cache::BlockEntry& entry,
                       const cache::Block& block, std::span<const std::uint8_t> accepted) {
                      part.take(edge, entry, block, accepted);
                    });
  result.first = limits.first;
  result.last = limits.last;
  result.bounds = bins.bounds();
  result.all.resize(bins.size());
  result.selected.resize(bins.size());
  result.grid.resize(bins.size() * shape.columns);
  result.selected_grid.resize(result.grid.size());
  for (DistributionPart& part : parts) {
    part.add_to(result);
    if (&part != &parts.front()) {
      parts.front().slowest().take(part.slowest());
    }
  }
  std::vector<cache::CallRef> calls;
  for (const RankedCall& call : parts.front().slowest().finish()) {
    calls.push_back(call.call);
    result.slowest_selected.push_back(call.marked);
  }
  result.slowest = CallSubset(cache::read_calls(cache, calls));
  return result;
}

} // namespace ptlens::measure
