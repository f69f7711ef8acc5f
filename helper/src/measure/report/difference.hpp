// What changed from one recording to another, and whether it is a change at all. Figures of one
// recording are known to within their uncertainty and scatter with their calls: a difference is
// only called one where it is larger than both.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::measure {

enum class Verdict {
  changed,
  unchanged, // within the uncertainty of the timing, or the scatter of the calls
  few_calls, // too few to tell
  no_timing, // one of the recordings has no timing
};

// Complete calls below which a mean says nothing about a change, and below which the 99th
// percentile is hardly more than the slowest call.
inline constexpr std::uint64_t fewest_for_mean = 5;
inline constexpr std::uint64_t fewest_for_p99 = 100;

struct Difference {        // from base to now
  double mean = 0;         // ns
  double mean_percent = 0; // of the base's mean; 0 where that is 0
  double mean_within = 0;  // ns: smaller differences of the means are none
  double p99 = 0;          // ns
  Verdict mean_verdict = Verdict::no_timing;
  Verdict p99_verdict = Verdict::no_timing;
};

// `timed`: both recordings have timing. A mean has changed when its difference exceeds both
// uncertainties together, and twice the standard error of the difference (Welch 1947). A percentile
// has when its difference exceeds both uncertainties together.
[[nodiscard]] Difference difference(const LatencyStats& base, const LatencyStats& now, bool timed);

// The function of `base` that is `function` of `now`: of the same name in a binary of the same file
// name, and where several are, in a source file of the same name. no_call where none is, or
// several.
[[nodiscard]] std::uint32_t same_function(const Measurement& base, const Measurement& now,
                                          std::uint32_t function);

struct FunctionDifference {
  Report base; // without callers, children and threads
  Report now;
  Difference difference;
};

struct RecordingDifference {
  std::vector<FunctionDifference> both; // largest change of total latency first
  std::vector<Report> only_base;        // most total latency first
  std::vector<Report> only_now;
};

// Of all functions that were called, or of one (an index of `now`, or of `base` where it was called
// there alone).
[[nodiscard]] RecordingDifference differences(const Measurement& base, const Measurement& now);
[[nodiscard]] FunctionDifference differences_of(const Measurement& base,
                                                std::uint32_t base_function, const Measurement& now,
                                                std::uint32_t now_function);

} // namespace ptlens::measure
