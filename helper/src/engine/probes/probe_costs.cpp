// A manifest may contain any number: values that are no time are 0, and none exceeds a second.
#include "engine/probes/probe_costs.hpp"

#include <algorithm>
#include <cmath>

namespace ptlens::engine {
namespace {

constexpr stacks::ProbeTime assumed{.ns = 10'000, .uncertainty_ns = 10'000};

double time_of(double ns) {
  constexpr double longest = 1e9;
  return std::isfinite(ns) ? std::clamp(ns, 0.0, longest) : 0;
}

stacks::ProbeTime time_of(double ns, double uncertainty_ns) {
  return {.ns = time_of(ns), .uncertainty_ns = time_of(uncertainty_ns)};
}

} // namespace

ProbeCosts::ProbeCosts(std::span<const record::Probe> probes)
    : measured_(std::ranges::any_of(
          probes, [](const record::Probe& probe) { return time_of(probe.hit_ns) > 0; })) {
  for (const record::Probe& probe : probes) {
    if (probe.target && probe.kind == record::Probe::Kind::entry) {
      const double uncertainty = std::ceil(excess(probe).uncertainty_ns);
      resolution_ns_ = std::max(resolution_ns_, static_cast<std::uint64_t>(uncertainty));
    }
  }
}

stacks::ProbeTime ProbeCosts::of_hit(const record::Probe& probe) const {
  return measured_ ? time_of(probe.hit_ns, probe.uncertainty_ns) : assumed;
}

stacks::ProbeTime ProbeCosts::excess(const record::Probe& entry) const {
  return measured_ ? time_of(entry.latency_ns, entry.uncertainty_ns) : assumed;
}

stacks::ProbeTime ProbeCosts::late(const record::Probe& entry) const {
  return measured_ ? time_of(entry.late_ns, entry.late_ns) : stacks::ProbeTime{};
}

} // namespace ptlens::engine
