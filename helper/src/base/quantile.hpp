// Quantiles of unsorted values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ptlens {

// Returns the value that the given share of all values does not exceed, 0 where there are no
// values. Reorders the values. `share`: 0 to 1.
inline double quantile(std::vector<double>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto position =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, position);
  return *position;
}

inline double median(std::vector<double>& values) {
  return quantile(values, 0.5);
}

} // namespace ptlens
