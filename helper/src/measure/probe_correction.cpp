// Latency without what the probes themselves took. Parents come before their children in a table,
// so one pass from its end sums what lies below each call.
#include "measure/probe_correction.hpp"

#include "measure/part.hpp"
#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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
    const auto& [part, whole] = percentile_shares[index];
    const std::uint64_t rank = (tally.calls * part + whole - 1) / whole; // nearest rank, from 1
    *percentiles[index] = latencies[rank - 1];
  }
  return stats;
}

ProbedFunction at_the_time(ProbedFunction of, const CostInTime& in_time,
                           const stacks::CallTable& calls, std::size_t call) {
  const std::size_t thread = calls.thread[call];
  if (thread >= in_time.size() || in_time[thread].empty()) {
    return of;
  }
  const std::vector<CostFrom>& costs = in_time[thread];
  auto at = std::ranges::upper_bound(costs, calls.start[call], {}, &CostFrom::from_ns);
  at -= at == costs.begin() ? 0 : 1;
  of.own *= at->scale;
  of.hits *= at->scale;
  of.own_uncertainty = of.own * at->uncertainty;
  of.hits_uncertainty = of.hits * at->uncertainty;
  return of;
}

} // namespace

CorrectedLatency corrected_latency(const Measurement& measurement, std::uint32_t function,
                                   const Selection& selection,
                                   const std::vector<ProbedFunction>& probed,
                                   const CostInTime& in_time) {
  Needs needs(measurement);
  needs.everything_below(function);
  needs.recursion();
  needs.way_up(function, selection);
  const Part part = needs.gather();
  const stacks::CallTable& calls = part.calls();
  std::vector<double> below(calls.size(), 0);
  std::vector<double> uncertain_below(calls.size(), 0);
  for (std::size_t call = calls.size(); call-- > 0;) {
    const std::uint32_t parent = calls.parent[call];
    if (parent != stacks::no_call && calls.function[call] < probed.size()) {
      const ProbedFunction of = at_the_time(probed[calls.function[call]], in_time, calls, call);
      below[parent] += below[call] + of.hits;
      uncertain_below[parent] += uncertain_below[call] + of.hits_uncertainty;
    }
  }
  std::vector<std::uint64_t> latencies;
  double removed = 0;
  double uncertain = 0;
  for (const std::uint32_t call : select_calls(measurement, calls, function, selection)) {
    if (calls.state[call] != stacks::CallState::complete) {
      continue;
    }
    const auto raw = static_cast<double>(calls.latency[call]);
    const ProbedFunction own = at_the_time(
        function < probed.size() ? probed[function] : ProbedFunction{}, in_time, calls, call);
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
