// The decision which calls a selection accepts.
#pragma once

#include "cache/reading/order_set.hpp"
#include "measure/measurement.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the calls of the functions that fulfil the conditions of the selection, or, for its
// complement, those that do not. Of these, only the calls in `states`, whatever states the
// selection asks for.
[[nodiscard]] cache::OrderSet select_calls(const Measurement& measurement,
                                           std::span<const stacks::FunctionId> functions,
                                           const Selection& selection,
                                           stacks::CallStates states = stacks::CallStates::all());

// Selected calls as rows of a table.
struct SelectedCalls {
  CallSubset subset;
  std::vector<std::uint32_t> calls; // rows of the subset, ascending
};

// Reads the calls of `function` that the selection accepts; without states of its own, in any
// state.
[[nodiscard]] SelectedCalls read_selected(const Measurement& measurement,
                                          stacks::FunctionId function, const Selection& selection);

} // namespace ptlens::measure
