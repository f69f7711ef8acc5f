// When bursts begin and end. A burst ends when its hits took the time that the budget allows in a
// period, and the next one begins when the program has had the time that goes with it. So neither a
// rate of calls that changes, nor a CPU that is shared with others, breaks the budget.
#pragma once

#include "record/probes/cost/probe_load.hpp"

namespace ptlens::record {

class BurstSchedule {
public:
  // `budget`: share of the program's time, above 0. `recording_ns`: duration of the recording; 0:
  // it is not known.
  BurstSchedule(double budget, double recording_ns);

  void begin_burst(double now_ns) { began_ns_ = now_ns; }
  // `load`: of the hits in this burst.
  [[nodiscard]] bool should_end(double now_ns, const ProbeLoad& load) const;
  // Returns how long to wait before it is asked again whether a burst may begin; 0: it may begin.
  // `share`: that the probes took of the program's time since the last burst began.
  [[nodiscard]] double pause_ns(double now_ns, double share) const;

private:
  double budget_ = 1;
  double period_ns_ = 0; // the least
  double began_ns_ = 0;  // the last burst
};

} // namespace ptlens::record
