// The differences between two recordings. Figures have an uncertainty and scatter from call to
// call, so that only a difference that is larger than both counts as a change.
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
  few_calls, // too few to decide
  no_timing, // one of the recordings has no timing
};

// The numbers of complete calls below which a mean cannot show a change, and below which the 99th
// percentile is hardly more than the slowest call.
inline constexpr std::uint64_t fewest_for_mean = 5;
inline constexpr std::uint64_t fewest_for_p99 = 100;

struct Difference {        // from base to now
  double mean = 0;         // ns
  double mean_percent = 0; // of the base's mean; 0 where that is 0
  double mean_within = 0;  // ns: smaller differences of the means do not count
  double p99 = 0;          // ns
  Verdict mean_verdict = Verdict::no_timing;
  Verdict p99_verdict = Verdict::no_timing;
};

// Compares two latencies. `timed`: both recordings have timing. A mean has changed when its
// difference exceeds the sum of both uncertainties, and twice the standard error of the difference
// (Welch 1947). A percentile has changed when its difference exceeds the sum of both uncertainties.
[[nodiscard]] Difference difference(const LatencyStats& base, const LatencyStats& now, bool timed);

// Returns the function of `base` that corresponds to `function` of `now`: it has the same name in a
// binary with the same file name and, where several functions match, in a source file with the same
// name. Returns none where none or several match.
[[nodiscard]] stacks::FunctionId same_function(const Measurement& base, const Measurement& now,
                                               stacks::FunctionId function);

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

// Compares all functions that were called.
[[nodiscard]] RecordingDifference differences(const Measurement& base, const Measurement& now);
// Compares one function, by its indices.
[[nodiscard]] FunctionDifference differences_of(const Measurement& base,
                                                stacks::FunctionId base_function,
                                                const Measurement& now,
                                                stacks::FunctionId now_function);

} // namespace ptlens::measure
