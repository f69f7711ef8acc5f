// One call and the calls in it, from a table of calls.
#pragma once

#include "stacks/calls/call.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::measure {

struct NestedCall {
  std::uint32_t row = 0;   // of the table
  std::uint32_t depth = 0; // 0: the call itself
};

// Returns the call and those in it, in order of start, callers first; at most `most`.
struct CallTree {
  std::vector<NestedCall> calls;
  std::uint64_t left_out = 0; // further calls in it
};
[[nodiscard]] CallTree calls_in(const stacks::CallTable& table, std::uint32_t row,
                                std::size_t most);

// Returns the rows of the calls that the call made directly, in order of start.
[[nodiscard]] std::vector<std::uint32_t> children_of(const stacks::CallTable& table,
                                                     std::uint32_t row);

} // namespace ptlens::measure
