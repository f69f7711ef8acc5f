#include "record/probes/load_meter.hpp"

#include <utility>

namespace ptlens::record {

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

} // namespace ptlens::record
