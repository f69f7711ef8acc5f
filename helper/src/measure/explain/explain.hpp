// Explains the slow calls of a function: see explanation.hpp.
#pragma once

#include "base/error.hpp"
#include "measure/explain/explanation.hpp"
#include "measure/explain/slow_and_typical.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/selection.hpp"

namespace ptlens::measure {

// Explains the complete calls of the function. `sets` says which of them are slow and which
// typical. Without a choice of slow calls, these are the calls that the selection accepts; and
// where it accepts all, the calls at or above the 99th percentile. Errors: bad_input where no call
// is slow or none is typical.
[[nodiscard]] Result<Explanation> explain(const Measurement& measurement,
                                          stacks::FunctionId function, const Selection& selection,
                                          const SetChoice& sets);

} // namespace ptlens::measure
