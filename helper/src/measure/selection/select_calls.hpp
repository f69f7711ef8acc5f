// The decision which calls a selection accepts.
#pragma once

#include "cache/order_set.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the calls of the functions that the selection accepts, whatever their state. The latency
// of an incomplete call is its lower bound.
[[nodiscard]] cache::OrderSet select_calls(const Measurement& measurement,
                                           std::span<const stacks::FunctionId> functions,
                                           const Selection& selection);

// Selected calls as rows of a table.
struct SelectedCalls {
  CallSubset subset;
  std::vector<std::uint32_t> calls; // rows of the subset, ascending
};

// Reads the calls of `function` that the selection accepts.
[[nodiscard]] SelectedCalls read_selected(const Measurement& measurement,
                                          stacks::FunctionId function, const Selection& selection);

} // namespace ptlens::measure
