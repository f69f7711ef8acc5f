// The comparison of two recordings, as text and as JSON.
#pragma once

#include "export/json/json.hpp"
#include "measure/report/difference.hpp"

#include <string>

namespace ptlens::exporting {

// Returns {base: recording, recording, functions: [{name, binary, address, file, line, base,
// recording, difference}], only_base: [...], only_recording: [...]}; `base` and `recording` of a
// function are {calls, latency, off_cpu}.
[[nodiscard]] Json difference_json(const measure::Measurement& base,
                                   const measure::Measurement& now,
                                   const measure::RecordingDifference& difference);

[[nodiscard]] std::string difference_text(const measure::Measurement& base,
                                          const measure::Measurement& now,
                                          const measure::RecordingDifference& difference);

// Returns "changed", "unchanged", "few_calls" or "no_timing".
[[nodiscard]] const char* word(measure::Verdict verdict);

// Return "+3.00 µs" or "−40 ns", and "−12 %".
[[nodiscard]] std::string signed_duration(double ns);
[[nodiscard]] std::string signed_percentage(double percent);

} // namespace ptlens::exporting
