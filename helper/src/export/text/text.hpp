// The command line's output for people: UTF-8, with control characters in names replaced, so that a
// binary cannot control the terminal.
#pragma once

#include "measure/lines/lines.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/report.hpp"
#include "record/machine/doctor.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace ptlens::exporting {

// Returns the sentence "f was not called in 5.00 s.", for a report without calls.
[[nodiscard]] std::string not_called_text(const measure::Measurement& measurement,
                                          const measure::Report& report);
// Returns the report on one function: losses, excluded calls, figures, histogram, callers,
// children, call sites where it was inlined, threads and notes. `raw`: figures to add.
[[nodiscard]] std::string report_text(const measure::Measurement& measurement,
                                      const measure::Report& report,
                                      const measure::InlinedPart& inlined = {},
                                      const std::optional<measure::LatencyStats>& raw = {});

// Returns a table of all functions, most inclusive time first.
[[nodiscard]] std::string functions_text(const measure::Measurement& measurement,
                                         std::span<const measure::FunctionRow> rows);

// Returns the functions and the call-site lines of one source file, then `more`, then the notes.
[[nodiscard]] std::string lines_text(const measure::Measurement& measurement,
                                     const measure::FileLines& lines, const std::string& more = {});

// Returns what this machine can measure, with the command for each missing item.
[[nodiscard]] std::string doctor_text(const record::Diagnosis& diagnosis);

} // namespace ptlens::exporting
