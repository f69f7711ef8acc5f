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
  for (const cache::EdgeId edge : cache.edges_to(function)) {
    scan_calls(cache, edge, [&](const ScannedCall& call) {
      const std::uint32_t number = calls.index.number(call.thread, call.order);
      if (number != NumberedCalls::none) {
        blocked += static_cast<double>(call.blocked) * deviation(number);
        preempted += static_cast<double>(call.preempted) * deviation(number);
      }
    });
  }
  for (const cache::EdgeId edge : cache.edges_from(function)) {
    double covariance = 0;
    bool any = false;
    scan_calls(cache, edge, [&](const ScannedCall& call) {
      const std::uint32_t parent = calls.index.number(call.thread, call.parent);
      if (parent == NumberedCalls::none) {
        return;
      }
      any = true;
      covariance += static_cast<double>(call.latency) * deviation(parent);
      blocked -= static_cast<double>(call.blocked) * deviation(parent);
      preempted -= static_cast<double>(call.preempted) * deviation(parent);
    });
    if (any) {
      parts.push_back({.key = part_key(measurement, edge), .share = covariance / variance});
      self -= covariance;
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
