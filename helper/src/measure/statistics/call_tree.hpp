// Which calls run while others of their own function do.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// One byte a call of the table: 1 where a counted call begins while another counted call of the
// same function and thread runs, on whichever of the thread's stacks: its time is in that one's
// already. Empty when none does. `counted`: ascending; the table's calls by thread and opening.
[[nodiscard]] std::vector<std::uint8_t> covered_calls(const stacks::CallTable& calls,
                                                      std::span<const std::uint32_t> counted,
                                                      std::size_t functions);

} // namespace ptlens::measure
