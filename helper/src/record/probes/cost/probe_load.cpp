#include "record/probes/cost/probe_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptlens::record {
namespace {

constexpr std::uint64_t page_offset = 0xfff;

std::uint64_t key_of(std::uint64_t event_id, std::uint64_t address) {
  return event_id * (page_offset + 1) + (address & page_offset);
}

} // namespace

HitCosts::HitCosts(std::span<const Probe> probes, std::span<const Probe> frequent) {
  for (const Probe& probe : probes) {
    double& ns = hits_[key_of(probe.event_id, probe.address)].cost.hit_ns;
    ns = std::max(ns, probe.hit_ns);
  }
  for (const Probe& probe : frequent) {
    double& ns = hits_[key_of(probe.event_id, probe.address)].cost.frequent_ns;
    ns = std::max(ns, probe.hit_ns);
  }
}

double HitCosts::take(std::uint64_t event_id, std::uint64_t ip, std::int32_t tid,
                      std::uint64_t time_ns) {
  const auto found = hits_.find(key_of(event_id, ip));
  const auto [last, is_first] = last_ns_.try_emplace(tid, time_ns);
  const std::uint64_t before_ns = std::exchange(last->second, std::max(last->second, time_ns));
  if (found == hits_.end()) {
    return 0;
  }
  ++found->second.count;
  const HitCost& cost = found->second.cost;
  // Hits of a thread that changed its CPU can be read in another order.
  return is_first ? cost.hit_ns
                  : cost.after(static_cast<double>(time_ns - std::min(time_ns, before_ns)));
}

std::uint64_t HitCosts::hits_of(const Probe& probe) const {
  const auto found = hits_.find(key_of(probe.event_id, probe.address));
  return found == hits_.end() ? 0 : found->second.count;
}

void ProbeLoad::add(std::int32_t tid, double ns) {
  by_thread_[tid] += ns;
  total_ += ns;
}

void ProbeLoad::clear() {
  by_thread_.clear();
  total_ = 0;
}

void ProbeLoad::add(const ProbeLoad& more, double times) {
  for (const auto& [tid, ns] : more.by_thread_) {
    add(tid, times * ns);
  }
}

double ProbeLoad::share(const RunTime& time) const {
  const auto of = [](double lost, double could_run) {
    return lost <= 0 ? 0 : could_run <= lost ? 1 : lost / could_run;
  };
  double most = of(total_, time.of_program());
  for (const auto& [tid, ns] : by_thread_) {
    most = std::max(most, of(ns, time.of_thread(tid)));
  }
  return most;
}

double ProbeLoad::most() const {
  double most = 0;
  for (const auto& [tid, ns] : by_thread_) {
    most = std::max(most, ns);
  }
  return most;
}

double slowdown(double share) {
  return std::min(most_slowdown, 1 / (1 - std::clamp(share, 0.0, 1.0)));
}

std::string times_slower(double slowdown) {
  return slowdown < most_slowdown ? fmt::format("{:.2f} times slower", slowdown)
                                  : fmt::format("at least {:.0f} times slower", most_slowdown);
}

} // namespace ptlens::record
