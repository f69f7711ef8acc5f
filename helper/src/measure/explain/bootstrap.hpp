// The uncertainty of shares: the bootstrap over calls (Efron and Tibshirani, "An Introduction to
// the Bootstrap", 1993, chapter 13: percentile intervals). Equal input gives equal results.
#pragma once

#include "measure/explain/parts.hpp"

#include <span>
#include <vector>

namespace ptlens::measure {

struct ShareInterval {
  double low = 0;
  double high = 0;
};

// Returns the interval of the share of each part, by resampling the slow and the typical calls 200
// times. Sets of more than 4,000 calls are resampled 4,000 at a time, and the intervals are
// narrowed by the square root of the ratio. Of sets of more than 16,000 calls, that many are drawn
// from, evenly spaced.
[[nodiscard]] std::vector<ShareInterval> share_intervals(const Owners& owners,
                                                         std::span<const PartValues> parts);

} // namespace ptlens::measure
