// Selects the nodes of a tree: in one pass, because parents come before their children.
#include "measure/flame/flame_tree.hpp"

namespace ptlens::measure {

FlameTree kept_of(const FlameTree& tree, std::span<const std::uint8_t> kept) {
  FlameTree smaller;
  std::vector<std::uint32_t> moved(tree.size(), 0);
  for (std::size_t node = 0; node < tree.size(); ++node) {
    if (kept[node] == 0) {
      continue;
    }
    moved[node] = static_cast<std::uint32_t>(smaller.size());
    smaller.parent.push_back(moved[tree.parent[node]]);
    smaller.function.push_back(tree.function[node]);
    smaller.inclusive.push_back(tree.inclusive[node]);
    smaller.self.push_back(tree.self[node]);
    smaller.calls.push_back(tree.calls[node]);
    smaller.uncertainty.push_back(tree.uncertainty[node]);
  }
  return smaller;
}

FlameTree pruned(const FlameTree& tree, double smallest) {
  if (smallest <= 0) {
    return tree;
  }
  const double limit = smallest * static_cast<double>(tree.inclusive[0]);
  std::vector<std::uint8_t> kept(tree.size(), 0);
  kept[0] = 1;
  for (std::size_t node = 1; node < tree.size(); ++node) {
    kept[node] = static_cast<std::uint8_t>(kept[tree.parent[node]] != 0 &&
                                           static_cast<double>(tree.inclusive[node]) >= limit);
  }
  FlameTree smaller = kept_of(tree, kept);
  std::vector<std::uint64_t> below(smaller.size(), 0); // inclusive time of the nodes that are left
  for (std::size_t node = smaller.size(); node-- > 1;) {
    below[smaller.parent[node]] += smaller.inclusive[node];
  }
  for (std::size_t node = 0; node < smaller.size(); ++node) {
    smaller.self[node] = smaller.inclusive[node] - below[node];
  }
  return smaller;
}

} // namespace ptlens::measure
