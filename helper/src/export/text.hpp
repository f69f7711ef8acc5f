// What the command line prints for people. UTF-8, at most one page a question; control characters
// in names are replaced, so that a binary cannot write to the terminal.
#pragma once

#include "measure/lines/lines.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/probe_correction.hpp"
#include "measure/report/report.hpp"
#include "record/machine/doctor.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace ptlens::exporting {

// One function: what was lost and left out first, then figures, histogram, callers, children, the
// places where it was inlined, threads and the notes of the backend.
// One line below a report: latency without what the probes took.
[[nodiscard]] std::string corrected_text(const measure::CorrectedLatency& corrected);
[[nodiscard]] std::string report_text(const measure::Measurement& measurement,
                                      const measure::Report& report,
                                      const measure::InlinedPart& inlined = {});

// A table of all functions, most inclusive time first.
[[nodiscard]] std::string functions_text(const measure::Measurement& measurement,
                                         std::span<const measure::FunctionRow> rows);

// The functions of one source file and its call-site lines, then `more`, then the notes.
[[nodiscard]] std::string lines_text(const measure::Measurement& measurement,
                                     const measure::FileLines& lines, const std::string& more = {});

// What this machine can measure, with the command for what it lacks.
[[nodiscard]] std::string doctor_text(const record::Diagnosis& diagnosis);

} // namespace ptlens::exporting
