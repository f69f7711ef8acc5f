// Compares what the hits of probes cost with the time that the program could run: in a window, and
// since the beginning.
#pragma once

#include "base/note.hpp"
#include "record/probes/cost/probe_load.hpp"
#include "record/probes/cost/run_time.hpp"

#include <cstdint>

namespace ptlens::record {

class LoadMeter {
public:
  // `pid`: of the program, or of one of its threads; -1: of none in particular, and all of the time
  // counts.
  void begin(std::int32_t pid, double now_ns);
  void hit(std::int32_t tid, double ns) { window_.add(tid, ns); }
  // Counts the time of the program up to now.
  void read(double now_ns);
  // Not all hits of the window were recorded: there were so many times as many.
  void scale(double times);
  void begin_window(double now_ns);

  [[nodiscard]] double age_ns(double now_ns) const { return now_ns - window_began_ns_; }
  [[nodiscard]] const ProbeLoad& window() const { return window_; }
  // Return the shares that the probes took, up to the last reading.
  [[nodiscard]] double share() const { return window_.share(window_time_); } // of the window
  [[nodiscard]] double whole_share() const;

private:
  std::int32_t pid_ = -1;
  double window_began_ns_ = 0;
  double read_ns_ = 0;
  ThreadTimes last_;
  ProbeLoad window_;
  RunTime window_time_;
  ProbeLoad before_; // the window
  RunTime whole_time_;
};

// Return what to say when, after that time, the probes took more of the program's time than the
// budget: that callees are not measured from then on, or that bursts began.
[[nodiscard]] Note callees_stopped_note(double seconds, double share, double budget);
[[nodiscard]] Note bursts_begun_note(double seconds, double share, double budget);

} // namespace ptlens::record
