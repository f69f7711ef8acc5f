// Removes calls from the table as if their parents had done their work.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::stacks {

// Removes the rows with a 1 in `gone`, which has one element for each row. Their children and their
// self time then belong to their parents. The other rows keep their order.
void remove_calls(CallTable& table, const std::vector<std::uint8_t>& gone);

} // namespace ptlens::stacks
