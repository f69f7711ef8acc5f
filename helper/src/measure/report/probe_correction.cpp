// The latency without the cost of the probes. Parents come before their children in a table, so
// that one pass from its end sums the costs below each call.
#include "measure/report/probe_correction.hpp"

#include "base/quantile.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace ptlens::measure {

namespace {

LatencyStats stats_of(std::vector<std::uint64_t>& latencies) {
  LatencyStats stats;
  if (latencies.empty()) {
    return stats;
  }
  std::ranges::sort(latencies);
  Tally tally;
  for (const std::uint64_t latency : latencies) {
    tally.add_latency(latency);
  }
  stats.calls = tally.calls;
  stats.mean = mean_of(tally.latency, tally.calls);
  stats.stddev = stddev_of(tally);
  stats.min = tally.least;
  stats.max = tally.most;
  stats.total = clamp_to_64_bits(tally.latency);
  std::array<std::uint64_t*, percentile_shares.size()> percentiles = {&stats.p50, &stats.p90,
                                                                      &stats.p99, &stats.p999};
  for (std::size_t index = 0; index < percentiles.size(); ++index) {
    const auto& [share, whole] = percentile_shares[index];
    const std::uint64_t rank = (tally.calls * share + whole - 1) / whole; // nearest rank, from 1
    *percentiles[index] = latencies[rank - 1];
  }
  return stats;
}

// Returns the index of the cost at the call's start; nothing where none is known.
std::optional<std::size_t> time_of(const CostInTime& in_time, const stacks::CallTable& calls,
                                   std::size_t call) {
  const std::size_t thread = calls.thread[call];
  if (thread >= in_time.size() || in_time[thread].empty()) {
    return std::nullopt;
  }
  const std::vector<CostFrom>& costs = in_time[thread];
  const auto at = std::ranges::upper_bound(costs, calls.start[call], {}, &CostFrom::from_ns);
  return static_cast<std::size_t>(at - costs.begin()) - (at == costs.begin() ? 0 : 1);
}

// Bounds the cost of a hit by the shortest calls: a call that does nothing takes no less time than
// its own probes.
void bound_by_short_calls(const stacks::CallTable& calls,
                          std::span<const stacks::FunctionId> functions,
                          const ProbedFunctions& probed, CostInTime& in_time) {
  constexpr std::size_t least_calls = 7;
  constexpr double shortest = 0.25;
  std::vector<std::vector<std::vector<double>>> shown(in_time.size());
  for (std::size_t thread = 0; thread < in_time.size(); ++thread) {
    shown[thread].resize(in_time[thread].size());
  }
  IdVector<stacks::FunctionId, bool> is_bound(probed.size());
  for (const stacks::FunctionId of : probed.ids()) {
    is_bound[of] = probed[of].own > 0 && std::ranges::find(functions, of) == functions.end();
  }
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const stacks::FunctionId of = calls.function[call];
    if (!is_bound.has(of) || !is_bound[of] || calls.state[call] != stacks::CallState::complete) {
      continue;
    }
    if (const auto at = time_of(in_time, calls, call)) {
      shown[calls.thread[call]][*at].push_back(static_cast<double>(calls.latency[call]) /
                                               probed[of].own);
    }
  }
  for (std::size_t thread = 0; thread < in_time.size(); ++thread) {
    for (std::size_t at = 0; at < in_time[thread].size(); ++at) {
      if (shown[thread][at].size() >= least_calls) {
        double& scale = in_time[thread][at].hit_scale;
        scale = std::min(scale, quantile(shown[thread][at], shortest));
      }
    }
  }
}

// Returns the costs of a function's probes when the call was made.
ProbedFunction at_the_time(ProbedFunction of, const CostInTime& in_time,
                           const stacks::CallTable& calls, std::size_t call) {
  if (const auto at = time_of(in_time, calls, call)) {
    const CostFrom& cost = in_time[calls.thread[call]][*at];
    of.own *= cost.scale;
    of.hits *= cost.hit_scale;
    of.own_uncertainty = of.own * cost.uncertainty;
    of.hits_uncertainty = of.hits * cost.uncertainty;
  }
  return of;
}

} // namespace

CorrectedLatency corrected_latency(const Measurement& measurement,
                                   std::span<const stacks::FunctionId> functions,
                                   const Selection& selection, const ProbedFunctions& probed,
                                   CostInTime in_time) {
  CallsNeeded needed(measurement);
  for (const stacks::FunctionId function : functions) {
    needed.add_calls_below(function);
  }
  const CallSubset subset = needed.read();
  const stacks::CallTable& calls = subset.calls();
  const cache::OrderSet selected = select_calls(measurement, functions, selection);
  bound_by_short_calls(calls, functions, probed, in_time);
  std::vector<double> below(calls.size(), 0);
  std::vector<double> uncertain_below(calls.size(), 0);
  for (std::size_t call = calls.size(); call-- > 0;) {
    const stacks::CallIndex parent = calls.parent[call];
    if (parent != stacks::CallIndex::none && probed.has(calls.function[call])) {
      const ProbedFunction of = at_the_time(probed[calls.function[call]], in_time, calls, call);
      below[index_of(parent)] += below[call] + of.hits;
      uncertain_below[index_of(parent)] += uncertain_below[call] + of.hits_uncertainty;
    }
  }
  std::vector<std::uint64_t> latencies;
  double removed = 0;
  double uncertain = 0;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const stacks::FunctionId function = calls.function[call];
    if (calls.state[call] != stacks::CallState::complete ||
        std::ranges::find(functions, function) == functions.end() ||
        !selected.has(calls.thread[call], subset.order(call))) {
      continue;
    }
    const ProbedFunction costs = probed.has(function) ? probed[function] : ProbedFunction{};
    const auto raw = static_cast<double>(calls.latency[call]);
    const ProbedFunction own = at_the_time(costs, in_time, calls, call);
    const double corrected = std::max(0.0, raw - own.own - below[call]);
    removed += raw - corrected;
    uncertain += own.own_uncertainty + uncertain_below[call];
    latencies.push_back(static_cast<std::uint64_t>(std::llround(corrected)));
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, latencies.size()));
  return {
      .latency = stats_of(latencies), .removed = removed / count, .uncertainty = uncertain / count};
}

} // namespace ptlens::measure
