// The number by which people name a call: its place among all calls of the functions, by start.
#pragma once

#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the number of each row, from 1 on. Calls in any state count. Only the blocks that were
// written while one of the rows began are read.
[[nodiscard]] std::vector<std::uint64_t> call_numbers(const Measurement& measurement,
                                                      std::span<const stacks::FunctionId> functions,
                                                      const CallSubset& rows);

} // namespace ptlens::measure
