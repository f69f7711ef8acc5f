// What it costs a thread to record its waits: two threads on one CPU wake each other in turns, with
// the tracepoints enabled and disabled.
#pragma once

#include "base/error.hpp"
#include "record/machine/machine.hpp"

namespace ptlens::record {

// Returns the time that one record of sched_switch or sched_waking takes, ns. Takes some tens of
// milliseconds. Errors: those of find_wait_events() and HitEvents, and failed where the threads
// cannot be made.
[[nodiscard]] Result<double> measure_wait_cost(const Machine& machine);

} // namespace ptlens::record
