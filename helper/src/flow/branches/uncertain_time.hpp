// When something happened, as far as the timing packets of a trace say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ptlens::flow {

// Something happened no earlier than `earliest` and no later than `latest`: ns of perf's clock.
struct TimeInterval {
  std::uint64_t earliest = 0;
  std::uint64_t latest = 0;
};

// The time that a branch gets from its interval: the middle of the interval, or `not_before` where
// that is later.
struct UncertainTime {
  std::uint64_t time_ns = 0;
  std::uint64_t interval_ns = 0;    // the length of the interval
  std::uint32_t uncertainty_ns = 0; // the true time is within time_ns ± uncertainty_ns

  UncertainTime() = default;
  explicit UncertainTime(TimeInterval interval) : interval_ns(interval.latest - interval.earliest) {
    time_ns = interval.earliest + interval_ns / 2;
    uncertainty_ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        interval_ns - interval_ns / 2, std::numeric_limits<std::uint32_t>::max()));
  }
  UncertainTime(TimeInterval interval, std::uint64_t not_before)
      : time_ns(std::max(interval.earliest + (interval.latest - interval.earliest) / 2,
                         std::min(interval.latest, not_before))),
        interval_ns(interval.latest - interval.earliest),
        uncertainty_ns(static_cast<std::uint32_t>(std::min<std::uint64_t>(
            std::max(time_ns - interval.earliest, interval.latest - time_ns),
            std::numeric_limits<std::uint32_t>::max()))) {}
};

} // namespace ptlens::flow
