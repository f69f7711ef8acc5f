// Calls, one line each.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <ostream>

namespace ptlens::exporting {

// Prints the calls in their order. `with_function`: with the function that was called.
void write_calls_json_lines(std::ostream& out, const measure::Measurement& measurement,
                            const measure::CallSubset& calls, bool with_function);
void write_calls_csv_header(std::ostream& out, const measure::Measurement& measurement,
                            bool with_function);
void write_calls_csv(std::ostream& out, const measure::Measurement& measurement,
                     const measure::CallSubset& calls, bool with_function);

} // namespace ptlens::exporting
