// The report on a function as JSON, whole or while the trace is still decoded.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/report.hpp"
#include "measure/report/watched_function.hpp"

#include <optional>

namespace ptlens::exporting {

// Returns {complete, incomplete, unwound}.
[[nodiscard]] Json call_counts_json(const measure::Report& report);

// `raw`: the latency with the time of the probes, where there is one.
[[nodiscard]] Json report_json(const measure::Measurement& measurement,
                               const measure::Report& report,
                               const std::optional<measure::LatencyStats>& raw = {});

// Returns {function, calls, latency, off_cpu, histogram, done, total}; the last two are bytes of
// trace.
[[nodiscard]] Json partial_report_json(const measure::PartialReport& report);

// Adds the field `inlined` and the notes on it.
void add_inlined(Json& report, const measure::Measurement& measurement,
                 const measure::InlinedPart& inlined);

} // namespace ptlens::exporting
