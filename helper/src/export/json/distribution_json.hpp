// The distribution of latencies, for the server.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/distribution/distribution.hpp"

namespace ptlens::exporting {

// Returns {recording, function, trace_start, total, selected, time, lost, bins, grid, slowest}.
[[nodiscard]] Json distribution_json(const measure::Measurement& measurement,
                                     stacks::FunctionId function,
                                     const measure::Distribution& distribution);

} // namespace ptlens::exporting
