#include "measure/distribution/latency_bins.hpp"

#include <algorithm>
#include <cmath>

namespace ptlens::measure {

LatencyBins::LatencyBins(std::uint64_t least, std::uint64_t most, std::size_t count) {
  const std::uint64_t end = most < UINT64_MAX ? most + 1 : most;
  bounds_.push_back(least);
  const double low = std::log(static_cast<double>(std::max<std::uint64_t>(least, 1)));
  const double high = std::log(static_cast<double>(std::max<std::uint64_t>(end, 1)));
  for (std::size_t bin = 1; bin < count; ++bin) {
    const double part = static_cast<double>(bin) / static_cast<double>(count);
    const double bound = std::round(std::exp(low + part * (high - low)));
    const auto whole = static_cast<std::uint64_t>(bound);
    if (whole > bounds_.back() && whole < end) {
      bounds_.push_back(whole);
    }
  }
  bounds_.push_back(std::max(end, least + 1));
  std::size_t bin = 0;
  for (std::size_t each = 0; each < Leading::keys; ++each) {
    const std::uint64_t value = Leading::least(each);
    while (bin + 1 < size() && value >= bounds_[bin + 1]) {
      ++bin;
    }
    first_[each] = static_cast<std::uint16_t>(bin);
  }
}

} // namespace ptlens::measure
