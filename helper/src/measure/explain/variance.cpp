#include "measure/explain/variance.hpp"

#include "measure/explain/call_scan.hpp"
#include "measure/explain/parts.hpp"

#include <algorithm>

namespace ptlens::measure {

std::vector<VariancePart> variance_parts(const Measurement& measurement,
                                         stacks::FunctionId function, const FunctionCalls& calls) {
  const cache::CallCache& cache = *measurement.cache;
  double mean = 0;
  for (const std::uint64_t latency : calls.latency) {
    mean += static_cast<double>(latency) / static_cast<double>(calls.size());
  }
  const auto deviation = [&](std::uint32_t call) {
    return static_cast<double>(calls.latency[call]) - mean;
  };
  double variance = 0;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    variance += deviation(call) * deviation(call);
  }
  if (variance == 0) {
    return {};
  }
  std::vector<VariancePart> parts;
  double self = variance;
  double blocked = 0;
  double preempted = 0;
  for (const FunctionCalls::OffCpu& off : calls.off_cpu) {
    blocked += static_cast<double>(off.blocked) * deviation(off.call);
    preempted += static_cast<double>(off.preempted) * deviation(off.call);
  }
  struct Sums {
    double latency = 0;
    double blocked = 0;
    double preempted = 0;
    bool any = false;
  };
  const std::span<const cache::EdgeId> edges = cache.edges_from(function);
  std::vector<Sums> sums(edges.size());
  do_tasks(edges.size(), [&](std::size_t at) {
    Sums sum;
    scan_calls(cache, edges[at], [&](const ScannedCall& call) {
      const std::uint32_t parent = calls.index.number(call.thread, call.parent);
      if (parent == NumberedCalls::none) {
        return;
      }
      sum.any = true;
      sum.latency += static_cast<double>(call.latency) * deviation(parent);
      sum.blocked += static_cast<double>(call.blocked) * deviation(parent);
      sum.preempted += static_cast<double>(call.preempted) * deviation(parent);
    });
    sums[at] = sum;
  });
  for (std::size_t at = 0; at < edges.size(); ++at) {
    if (sums[at].any) {
      parts.push_back(
          {.key = part_key(measurement, edges[at]), .share = sums[at].latency / variance});
      self -= sums[at].latency;
      blocked -= sums[at].blocked;
      preempted -= sums[at].preempted;
    }
  }
  self -= blocked + preempted;
  for (const auto& [kind, sum] :
       {std::pair(PartKind::self, self), std::pair(PartKind::blocked, blocked),
        std::pair(PartKind::preempted, preempted)}) {
    if (sum != 0) {
      parts.push_back({.key = {.kind = kind, .function = function}, .share = sum / variance});
    }
  }
  std::ranges::stable_sort(parts, [](const VariancePart& one, const VariancePart& other) {
    return one.share > other.share;
  });
  return parts;
}

} // namespace ptlens::measure
