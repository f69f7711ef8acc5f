// Which calls are inside others of their own function.
#pragma once

#include "stacks/call.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// One byte a call of the table: 1 where a counted call is inside another counted call of the same
// function. Empty when none is. Linear in the size of the table, whatever the depth of its stacks.
[[nodiscard]] std::vector<std::uint8_t> covered_calls(const stacks::CallTable& calls,
                                                      std::span<const std::uint32_t> counted,
                                                      std::size_t functions);

} // namespace ptlens::measure
