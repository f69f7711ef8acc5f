// The parts of a plan of probes that Go needs: the values that identify a goroutine, and probes
// where a function begins again or a goroutine ends early.
//
// Go's functions begin with a check of the stack. Where it is too small, or the scheduler wants the
// thread, the function calls runtime.morestack and begins again: its entry is hit twice in one
// call. runtime.Goexit ends a goroutine without the returns of its functions. Both are rare, so
// that their probes cost nothing in most programs.
#pragma once

#include "base/error.hpp"
#include "record/probes/plan/probe_plan.hpp"

namespace ptlens::record {

// Changes the plan for functions that Go compiled, and no other. `one_thread`: only one thread is
// recorded. Errors: unsupported where goroutines cannot be followed in a target, bad_input for one
// thread.
[[nodiscard]] Result<void> follow_goroutines(ProbePlan& plan, bool one_thread);

} // namespace ptlens::record
