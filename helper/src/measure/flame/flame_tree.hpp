// A flame graph as flat columns. Nested trees would overflow native stacks: see the note in
// export/.
#pragma once

#include "base/ids.hpp"
#include "stacks/calls/call.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Node 0 is the root ("all"); its function is none. Parents come before their children.
struct FlameTree {
  std::vector<std::uint32_t> parent;
  std::vector<stacks::FunctionId> function;
  std::vector<std::uint64_t> inclusive; // ns
  std::vector<std::uint64_t> self;      // ns
  std::vector<std::uint64_t> calls;
  std::vector<std::uint64_t> uncertainty;  // of the latencies of the node's calls together, ± ns
  std::vector<std::uint64_t> merged;       // ns of `self` that merged callees took
  std::vector<std::uint32_t> merged_nodes; // callees with time that were merged, or not_counted

  static constexpr std::uint32_t not_counted = UINT32_MAX;

  [[nodiscard]] std::size_t size() const { return parent.size(); }
};

// Returns the tree of the nodes that are marked. The parents of a marked node are marked. Counts
// the other children with time in `merged_nodes`.
[[nodiscard]] FlameTree kept_of(const FlameTree& tree, std::span<const std::uint8_t> kept);

// Merges nodes below `smallest` (share of the root's time, 0 keeps all) and nodes without time into
// their parent's self time, which `merged` and `merged_nodes` then say. Below the node `focus`, it
// is a share of that node's time.
[[nodiscard]] FlameTree pruned(const FlameTree& tree, double smallest, std::uint32_t focus = 0);

} // namespace ptlens::measure
