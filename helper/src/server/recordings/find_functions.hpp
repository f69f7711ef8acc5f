// From the protocol's function selectors to functions of a measurement.
#pragma once

#include "base/error.hpp"
#include "measure/measurement.hpp"
#include "protocol/messages.hpp"

#include <vector>

namespace ptlens::server {

// Returns the one function that the selector names. Errors: those of measure::find_function().
[[nodiscard]] Result<stacks::FunctionId> function_index(const measure::Measurement& measurement,
                                                        const protocol::FunctionSelector& selector);

// Returns all functions with the name where the selector asks for all.
[[nodiscard]] Result<std::vector<stacks::FunctionId>>
function_indices(const measure::Measurement& measurement,
                 const protocol::FunctionSelector& selector);

} // namespace ptlens::server
