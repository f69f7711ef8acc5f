#include "record/probes/session/burst_schedule.hpp"

#include <algorithm>

namespace ptlens::record {
namespace {

constexpr double bursts_a_recording = 10;
constexpr double shortest_period_ns = 1e8;
constexpr double longest_period_ns = 1e9;
constexpr double shortest_pause_ns = 5e6;
constexpr double longest_burst = 0.9; // of the period, where the function is hardly called

} // namespace

BurstSchedule::BurstSchedule(double budget, double recording_ns)
    : budget_(budget),
      period_ns_(recording_ns <= 0 ? longest_period_ns
                                   : std::clamp(recording_ns / bursts_a_recording,
                                                shortest_period_ns, longest_period_ns)) {}

bool BurstSchedule::should_end(double now_ns, const ProbeLoad& load) const {
  return load.most() >= budget_ * period_ns_ || now_ns - began_ns_ >= longest_burst * period_ns_;
}

double BurstSchedule::pause_ns(double now_ns, double share) const {
  const double age_ns = now_ns - began_ns_;
  const double rest_ns = std::max(period_ns_ - age_ns, age_ns * (share / budget_ - 1));
  return rest_ns <= 0 ? 0 : std::max(rest_ns, shortest_pause_ns);
}

} // namespace ptlens::record
