// One line a call, ordered by start, written as it goes: JSON lines and CSV.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

namespace ptlens::exporting {

// Calls of the part ordered by start over all threads (select_calls orders by thread first); those
// that start together keep the order of the table.
[[nodiscard]] std::vector<std::uint32_t> by_start(const measure::CallSubset& part,
                                                  std::vector<std::uint32_t> calls);

// {"tid", "start", "latency", "off_cpu", "self", "caller", "call_site", "state", "tail_call"} a
// line; times in ns, start on perf's clock; caller and call_site are null where unknown.
void write_calls_json_lines(std::ostream& out, const measure::Measurement& measurement,
                            const measure::CallSubset& part, std::span<const std::uint32_t> calls);

// The same fields with a header line; quoted as RFC 4180 says; empty where unknown.
void write_calls_csv(std::ostream& out, const measure::Measurement& measurement,
                     const measure::CallSubset& part, std::span<const std::uint32_t> calls);

} // namespace ptlens::exporting
