// Taking calls out of the table as if what they did had been done in their parents.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::stacks {

// Removes the rows with a 1 in `gone`, which has one element a row. Their children and their own
// time become those of what they were made in. The others keep their order.
void remove_calls(CallTable& table, const std::vector<std::uint8_t>& gone);

} // namespace ptlens::stacks
