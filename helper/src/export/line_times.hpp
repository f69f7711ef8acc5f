// Line time for programs and for people.
#pragma once

#include "export/json.hpp"
#include "line_time/line_times.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace ptlens::exporting {

// `line_time` of `ptlens lines --time --json`; null for no line time, as of a recording without
// trace.
[[nodiscard]] Json line_times_json(const line_time::LineTimes* times);

// One line: {line, executions, at_least, at_most, time, uncertainty, shared_with,
// shared_with_others}; no times where the trace has no timing.
[[nodiscard]] Json line_time_json(const line_time::LineTime& time, bool timed);

// The table that `ptlens lines --time` prints.
[[nodiscard]] std::string line_times_text(const line_time::LineTimes* times);

// "10–14, 17"; without line 0, at most some ranges.
[[nodiscard]] std::string line_ranges(std::span<const std::uint32_t> lines);

} // namespace ptlens::exporting
