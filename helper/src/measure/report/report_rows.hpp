// The parts of a report, made from figures.
#pragma once

#include "measure/report/report_figures.hpp"
#include "measure/statistics/edge_figures.hpp"
#include "measure/statistics/statistics.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::measure {

// Returns the report of a function without callers, children and threads.
[[nodiscard]] Report function_report(const Measurement& measurement, stacks::FunctionId function,
                                     SetFigures figures);

[[nodiscard]] RelatedRow related_row(const Measurement& measurement, stacks::FunctionId function,
                                     stacks::SiteId site, const Figures& figures);

// Removes the rows without complete calls, and orders the others by total latency, the largest
// first.
void order_rows(std::vector<RelatedRow>& rows);

// Removes the threads without calls, and orders the others by complete calls, the most first.
void order_rows(std::vector<ThreadRow>& rows);

} // namespace ptlens::measure
