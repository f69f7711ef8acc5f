// The caller of a call.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <cstdint>

namespace ptlens::measure {

// Returns the function that contains the call site. Where the site is not known, returns the
// function of the enclosing call; no_call where that is not known either. The two differ where the
// caller's own calls were not recorded.
[[nodiscard]] std::uint32_t caller_of(const Measurement& measurement, const CallSubset& subset,
                                      std::uint32_t call);
// Returns the caller of a call from `site` in a call of the function `outer`.
[[nodiscard]] std::uint32_t caller_of(const Measurement& measurement, std::uint32_t site,
                                      std::uint32_t outer);

} // namespace ptlens::measure
