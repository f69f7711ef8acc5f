#include "record/probes/cost/load_meter.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace ptlens::record {
namespace {

std::string percent_of(double share) {
  return fmt::format("{:.0f}", 100 * share);
}

} // namespace

void LoadMeter::begin(std::int32_t pid, double now_ns) {
  pid_ = pid;
  read_ns_ = now_ns;
  window_began_ns_ = now_ns;
  last_ = run_times_of(pid);
}

void LoadMeter::read(double now_ns) {
  ThreadTimes now = run_times_of(pid_);
  window_time_.add(now_ns - read_ns_, last_, now);
  whole_time_.add(now_ns - read_ns_, last_, now);
  read_ns_ = now_ns;
  last_ = std::move(now);
}

void LoadMeter::scale(double times) {
  const ProbeLoad recorded = std::exchange(window_, {});
  window_.add(recorded, times);
}

void LoadMeter::begin_window(double now_ns) {
  read(now_ns);
  before_.add(std::exchange(window_, {}));
  window_time_ = {};
  window_began_ns_ = now_ns;
}

double LoadMeter::whole_share() const {
  ProbeLoad whole = before_;
  whole.add(window_);
  return whole.share(whole_time_);
}

Note callees_stopped_note(double seconds, double share, double budget) {
  return make_note(
      "callees_stopped",
      "the functions that it calls were measured only for the first {} s, because measuring took "
      "{} % of the program's time and the budget is {} %; to measure them all the time, add "
      "--budget 100",
      fmt::format("{:.1f}", seconds), percent_of(share), percent_of(budget));
}

Note bursts_begun_note(double seconds, double share, double budget) {
  return make_note(
      "bursts_begun",
      "after {} s the function was measured in bursts, because measuring took {} % of the "
      "program's time and the budget is {} %; to measure it all the time, add --budget 100",
      fmt::format("{:.1f}", seconds), percent_of(share), percent_of(budget));
}

} // namespace ptlens::record
