// The caller of a call.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <cstdint>

namespace ptlens::measure {

// Returns the function that contains the call site. Where the site is not known, returns the
// function of the enclosing call; none where that is not known either. The two differ where the
// caller's own calls were not recorded.
[[nodiscard]] stacks::FunctionId caller_of(const Measurement& measurement, const CallSubset& subset,
                                           std::uint32_t call);
// Returns the caller of a call from `site` in a call of the function `outer`.
[[nodiscard]] stacks::FunctionId caller_of(const Measurement& measurement, stacks::SiteId site,
                                           stacks::FunctionId outer);

} // namespace ptlens::measure
