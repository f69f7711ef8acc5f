// Selects the nodes of a tree: in one pass, because parents come before their children.
#include "measure/flame/flame_tree.hpp"

namespace ptlens::measure {

FlameTree kept_of(const FlameTree& tree, std::span<const std::uint8_t> kept) {
  FlameTree smaller;
  std::vector<std::uint32_t> moved(tree.size(), 0);
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (kept[node] == 0) {
      if (kept[tree.parent[node]] != 0 && tree.inclusive[node] > 0) {
        std::uint32_t& count = smaller.merged_nodes[moved[tree.parent[node]]];
        count += count == FlameTree::not_counted ? 0 : 1;
      }
      continue;
    }
    moved[node] = static_cast<std::uint32_t>(smaller.size());
    smaller.parent.push_back(moved[tree.parent[node]]);
    smaller.function.push_back(tree.function[node]);
    smaller.inclusive.push_back(tree.inclusive[node]);
    smaller.self.push_back(tree.self[node]);
    smaller.calls.push_back(tree.calls[node]);
    smaller.uncertainty.push_back(tree.uncertainty[node]);
    smaller.merged.push_back(tree.merged[node]);
    smaller.merged_nodes.push_back(tree.merged_nodes[node]);
  }
  return smaller;
}

FlameTree pruned(const FlameTree& tree, double smallest, std::uint32_t focus) {
  if (smallest <= 0) {
    return tree;
  }
  const auto limit_in = [&](std::size_t node) {
    return smallest * static_cast<double>(tree.inclusive[node]);
  };
  enum : std::uint8_t { left_out, kept, kept_in_focus };
  std::vector<std::uint8_t> states(tree.size(), left_out);
  for (std::size_t node = focus; node != 0; node = tree.parent[node]) {
    states[node] = kept;
  }
  states[0] = kept;
  states[focus] = kept_in_focus;
  const double limit = limit_in(0);
  const double limit_in_focus = limit_in(focus);
  for (std::size_t node = 1; node < tree.size(); ++node) {
    const std::uint8_t above = states[tree.parent[node]];
    const double least = above == kept_in_focus ? limit_in_focus : limit;
    const std::uint64_t time = tree.inclusive[node];
    if (states[node] == left_out && time > 0 && static_cast<double>(time) >= least) {
      states[node] = above;
    }
  }
  FlameTree smaller = kept_of(tree, states);
  std::vector<std::uint64_t> below(smaller.size(), 0); // inclusive time of the nodes that are left
  for (std::size_t node = smaller.size(); node-- > 1;) {
    below[smaller.parent[node]] += smaller.inclusive[node];
  }
  for (std::size_t node = 0; node < smaller.size(); ++node) {
    const std::uint64_t own = smaller.self[node] - smaller.merged[node];
    smaller.self[node] = smaller.inclusive[node] - below[node];
    smaller.merged[node] = smaller.self[node] - own;
  }
  return smaller;
}

} // namespace ptlens::measure
