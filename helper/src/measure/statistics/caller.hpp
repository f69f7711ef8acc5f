// Who made a call.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <cstdint>

namespace ptlens::measure {

// The function that holds the call site; where the site is not known, the function of the call it
// was made in; no_call where neither is. They differ where the caller's own calls were not
// recorded.
[[nodiscard]] std::uint32_t caller_of(const Measurement& measurement, const CallSubset& part,
                                      std::uint32_t call);
// The same of a call made from `site` in a call of the function `outer`.
[[nodiscard]] std::uint32_t caller_of(const Measurement& measurement, std::uint32_t site,
                                      std::uint32_t outer);

} // namespace ptlens::measure
