// Two recordings compared, as text and as JSON.
#pragma once

#include "export/json.hpp"
#include "measure/report/difference.hpp"

#include <string>

namespace ptlens::exporting {

// {base: recording, recording, functions: [{name, binary, address, file, line, base, recording,
// difference}], only_base: [...], only_recording: [...]}; `base` and `recording` of a function hold
// {calls, latency, off_cpu}.
[[nodiscard]] Json difference_json(const measure::Measurement& base,
                                   const measure::Measurement& now,
                                   const measure::RecordingDifference& difference);

[[nodiscard]] std::string difference_text(const measure::Measurement& base,
                                          const measure::Measurement& now,
                                          const measure::RecordingDifference& difference);

// "changed", "unchanged", "few_calls" or "no_timing".
[[nodiscard]] const char* word(measure::Verdict verdict);

// "+3.00 µs", "−40 ns"; "−12 %".
[[nodiscard]] std::string signed_duration(double ns);
[[nodiscard]] std::string signed_percentage(double percent);

} // namespace ptlens::exporting
