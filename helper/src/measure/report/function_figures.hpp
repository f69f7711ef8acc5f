// Reports of many functions at once, without callers, children and threads.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the reports of those functions that were called, in their order.
[[nodiscard]] std::vector<Report> function_figures(const Measurement& measurement,
                                                   std::span<const stacks::FunctionId> functions);

// Returns the reports of all functions that were called, by index.
[[nodiscard]] std::vector<Report> all_function_figures(const Measurement& measurement);

} // namespace ptlens::measure
