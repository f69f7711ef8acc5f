// Calls ordered by start, one line each: JSON lines and CSV.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

namespace ptlens::exporting {

// Returns the calls of the subset ordered by start over all threads (select_calls orders by thread
// first). Calls with equal start keep their order in the table.
[[nodiscard]] std::vector<std::uint32_t> by_start(const measure::CallSubset& part,
                                                  std::vector<std::uint32_t> calls);

// {"tid", "start", "latency", "off_cpu", "self", "caller", "call_site", "state", "tail_call"} per
// line; times in ns, start on perf's clock; caller and call_site are null where unknown.
void write_calls_json_lines(std::ostream& out, const measure::Measurement& measurement,
                            const measure::CallSubset& part, std::span<const std::uint32_t> calls);

// Writes the same fields with a header line, quoted as in RFC 4180; unknown fields are empty.
void write_calls_csv(std::ostream& out, const measure::Measurement& measurement,
                     const measure::CallSubset& part, std::span<const std::uint32_t> calls);

} // namespace ptlens::exporting
