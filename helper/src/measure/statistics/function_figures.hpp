// Figures of many functions at once, each as in a report but without callers, children and threads.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::measure {

// Of those among `functions` that were called, in their order.
[[nodiscard]] std::vector<Report> function_figures(const Measurement& measurement,
                                                   const std::vector<std::uint32_t>& functions);
// The same from calls that hold all of theirs, and what recursion needs.
[[nodiscard]] std::vector<Report> function_figures(const Measurement& measurement,
                                                   const stacks::CallTable& table,
                                                   const std::vector<std::uint32_t>& functions);

// Of every function that was called, by index. Reads the calls a part at a time.
[[nodiscard]] std::vector<Report> all_function_figures(const Measurement& measurement);

} // namespace ptlens::measure
