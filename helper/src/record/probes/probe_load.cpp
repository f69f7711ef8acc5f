#include "record/probes/probe_load.hpp"

#include <algorithm>

namespace ptlens::record {
namespace {

constexpr std::uint64_t page_offset = 0xfff;

std::uint64_t cost_key(std::uint64_t event_id, std::uint64_t address) {
  return event_id * (page_offset + 1) + (address & page_offset);
}

} // namespace

HitCosts::HitCosts(std::span<const Probe> probes) {
  for (const Probe& probe : probes) {
    double& cost = ns_[cost_key(probe.event_id, probe.address)];
    cost = std::max(cost, probe.hit_ns);
  }
}

double HitCosts::of(std::uint64_t event_id, std::uint64_t ip) const {
  const auto found = ns_.find(cost_key(event_id, ip));
  return found == ns_.end() ? 0 : found->second;
}

void ProbeLoad::add(std::int32_t tid, double ns) {
  by_thread_[tid] += ns;
  total_ += ns;
}

void ProbeLoad::clear() {
  by_thread_.clear();
  total_ = 0;
}

double ProbeLoad::share(double window_ns, double cpu_ns) const {
  if (window_ns <= 0) {
    return 0;
  }
  double most = 0;
  for (const auto& [tid, ns] : by_thread_) {
    most = std::max(most, ns);
  }
  const double of_cpus = total_ / std::max(window_ns, cpu_ns);
  return std::clamp(std::max(most / window_ns, of_cpus), 0.0, 1.0);
}

double slowdown(double share) {
  constexpr double most = 0.99;
  return 1 / (1 - std::clamp(share, 0.0, most));
}

} // namespace ptlens::record
