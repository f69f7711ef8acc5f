// The comparison of recordings, as text and as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/change/recordings.hpp"

#include <string>

namespace ptlens::exporting {

// Returns {base, recording, functions: [{name, binary, address, file, line, base, recording,
// difference}], only_base: [...], only_recording: [...], notes: [...]}. `base` and `recording` are
// recordings, and those of a function {calls, latency, off_cpu}; with several runs a side, they are
// {runs: [...]}. `difference` is {mean, p50, p99}, each of them {base_ns, recording_ns,
// difference_ns, low_ns, high_ns, percent, low_percent, high_percent, verdict, reason}.
[[nodiscard]] Json difference_json(measure::Recordings base, measure::Recordings now,
                                   const measure::RecordingDifference& difference);

[[nodiscard]] std::string difference_text(measure::Recordings base, measure::Recordings now,
                                          const measure::RecordingDifference& difference);

// Returns "faster", "slower", "no_change" or "cannot_tell".
[[nodiscard]] const char* word(measure::Verdict verdict);
// Returns the same as words of a sentence: "no change".
[[nodiscard]] const char* words(measure::Verdict verdict);
// Returns "↓", "↑", "=" or "?".
[[nodiscard]] const char* sign(measure::Verdict verdict);

// Returns "+3.00 µs" or "−40 ns", and "−12 %".
[[nodiscard]] std::string signed_duration(double ns);
[[nodiscard]] std::string signed_percentage(double percent);

// Returns "−14 % to −10 %", or "−30 ns to +4 ns" of a base of 0.
[[nodiscard]] std::string interval_text(const measure::Change& change);

// Says that one run a side cannot rule out drift.
[[nodiscard]] std::string one_run_sentence();

} // namespace ptlens::exporting
