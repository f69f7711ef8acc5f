// Of values in no order: those that a share of all is not above.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ptlens {

// Reorders the values; 0 of none. `share` from 0 to 1.
inline double quantile(std::vector<double>& values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, place);
  return *place;
}

inline double median(std::vector<double>& values) {
  return quantile(values, 0.5);
}

} // namespace ptlens
