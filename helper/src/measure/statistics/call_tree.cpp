// One pass: what is outermost does not overlap, so that the latest of each function tells.
#include "measure/statistics/call_tree.hpp"

#include <algorithm>

namespace ptlens::measure {

using stacks::no_call;

std::vector<std::uint8_t> covered_calls(const stacks::CallTable& calls,
                                        std::span<const std::uint32_t> counted,
                                        std::size_t functions) {
  if (std::ranges::none_of(counted, [&](std::uint32_t call) { return calls.inner[call] != 0; })) {
    return {};
  }
  std::vector<std::uint8_t> covered(calls.size(), 0);
  std::vector<std::uint32_t> outermost(functions, no_call);
  for (const std::uint32_t call : counted) {
    std::uint32_t& outer = outermost[calls.function[call]];
    if (outer != no_call && calls.thread[outer] == calls.thread[call] &&
        calls.start[call] < calls.start[outer] + calls.latency[outer]) {
      covered[call] = 1;
    } else {
      outer = call;
    }
  }
  return covered;
}

} // namespace ptlens::measure
