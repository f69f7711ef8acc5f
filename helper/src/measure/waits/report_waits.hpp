// The report on the waits of a function, or of a whole recording.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"
#include "measure/waits/wait_report.hpp"
#include "waits/waits.hpp"

#include <optional>

namespace ptlens::measure {

// Returns the waits in complete calls of the function that the selection accepts, of nested calls
// too; a wait at the edge of a call counts as far as it is inside. Without a function, returns all
// waits that begin in the selection's time on its thread.
[[nodiscard]] WaitReport report_waits(const Measurement& measurement, const waits::Waits& waits,
                                      std::optional<stacks::FunctionId> function,
                                      const Selection& selection);

} // namespace ptlens::measure
