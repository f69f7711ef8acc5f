// When the difference between two figures is a change: values shared by all comparisons.
#pragma once

#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ptlens::measure {

enum class Verdict {
  faster,
  slower,
  no_change,   // the whole interval is within `practical_percent`
  cannot_tell, // the interval contains 0 and is wider than that; or see Reason
};

// Why no verdict is possible; `none`: the interval gives it.
enum class Reason {
  none,
  few_calls,
  no_timing, // one of the recordings has no timing
};

// A smaller difference, in percent, is no change, however many calls show it.
inline constexpr double practical_percent = 2;

// The numbers of complete calls of each run below which there is no verdict on a mean or a median,
// and on the 99th percentile: fewer than ten calls are then slower than it.
inline constexpr std::uint64_t fewest_for_mean = 20;
inline constexpr std::uint64_t fewest_for_p99 = 1000;

struct ConfidenceInterval { // 95 % confidence, ns
  double low = 0;
  double high = 0;
};

// The calls of a function, or of a line, in one recording.
struct RunOfCalls {
  LatencyStats latency;
  ConfidenceInterval p50;
  ConfidenceInterval p99;
  std::vector<std::uint64_t> latencies = {}; // ascending; empty unless there are several runs
};

// From base to now.
struct Change {
  double base = 0; // ns; of several runs the mean of their figures
  double now = 0;
  ConfidenceInterval ns; // of the difference
  Verdict verdict = Verdict::cannot_tell;
  Reason reason = Reason::none;

  [[nodiscard]] double difference() const { return now - base; }
  // Returns ns as a percentage of the base; 0 where the base is 0.
  [[nodiscard]] double percent_of(double change_ns) const {
    constexpr double percent = 100;
    return base > 0 ? percent * change_ns / base : 0;
  }
  [[nodiscard]] double percent() const { return percent_of(difference()); }
  // Returns the ends of the interval as percentages. A latency is never negative, so that none of
  // them is below −100 %, however uncertain the base is.
  [[nodiscard]] double low_percent() const { return std::max(percent_of(ns.low), -100.0); }
  [[nodiscard]] double high_percent() const { return std::max(percent_of(ns.high), -100.0); }
};

struct Difference {
  Change mean;
  Change p50;
  Change p99;
  bool one_run = true; // on one side at least: drift between runs cannot be ruled out
};

} // namespace ptlens::measure
