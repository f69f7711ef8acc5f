// A flame graph as flat columns. Nested trees would overflow native stacks: see the note in
// export/.
#pragma once

#include "base/ids.hpp"
#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::measure {

// Node 0 is the root ("all"); its function is none. Parents come before their children.
struct FlameTree {
  std::vector<std::uint32_t> parent;
  std::vector<stacks::FunctionId> function;
  std::vector<std::uint64_t> inclusive; // ns
  std::vector<std::uint64_t> self;      // ns
  std::vector<std::uint64_t> calls;
  std::vector<std::uint64_t> uncertainty; // of the latencies of the node's calls together, ± ns

  [[nodiscard]] std::size_t size() const { return parent.size(); }
};

} // namespace ptlens::measure
