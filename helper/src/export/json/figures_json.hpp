// Latencies and off-CPU times as JSON, with the uncertainty of those that the time of probes was
// removed from.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/statistics/statistics.hpp"

#include <initializer_list>
#include <string_view>

namespace ptlens::exporting {

[[nodiscard]] Json latency_json(const measure::LatencyStats& stats);
[[nodiscard]] Json off_cpu_json(const measure::OffCpuStats& stats);

// Add the same as a field.
void add_figures(JsonRows& rows, const char* name, const measure::LatencyStats& stats);
void add_figures(JsonRows& rows, const char* name, const measure::OffCpuStats& stats);

// Adds the uncertainty of these figures to an object that contains them.
void add_uncertainty(Json& json, const measure::LatencyStats& stats,
                     std::initializer_list<std::string_view> figures);

} // namespace ptlens::exporting
