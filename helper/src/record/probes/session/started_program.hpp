// The program that a recording with probes starts, and ends.
#pragma once

#include "base/error.hpp"
#include "record/perf/session.hpp"
#include "record/processes/child.hpp"
#include "record/request.hpp"

#include <optional>

namespace ptlens::record {

// Starts the program of the request, held before its first instruction. Returns nothing for a
// request without one. Errors: those of Child::start.
[[nodiscard]] Result<std::optional<Child>> start_program(const Request& request);

// Ends the program, if it runs, and describes how it ended.
void end_program(Child& program, SessionEnd& end);

} // namespace ptlens::record
