// Line time as JSON and as text.
#pragma once

#include "export/json/json_text.hpp"
#include "line_time/line_times.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace ptlens::exporting {

// Returns `line_time` of `ptlens lines --time --json`; null without line time, for example for a
// recording without trace.
[[nodiscard]] Json line_times_json(const line_time::LineTimes* times);

// Returns {line, executions, at_least, at_most, time, resolution, shared_with, shared_with_others}
// for one line; the times are null where the trace has no timing.
[[nodiscard]] Json line_time_json(const line_time::LineTime& time, bool timed);

// Returns the table that `ptlens lines --time` prints.
[[nodiscard]] std::string line_times_text(const line_time::LineTimes* times);

// Returns "10–14, 17", without line 0 and with a limited number of ranges.
[[nodiscard]] std::string line_ranges(std::span<const std::uint32_t> lines);

} // namespace ptlens::exporting
