// Builds the tree of a flame graph: nodes by parent and function, and their sums.
#pragma once

#include "base/large_pages.hpp"
#include "measure/flame/flame_tree.hpp"
#include "measure/statistics/pair_map.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace ptlens::measure {

class FlameBuilder {
public:
  static constexpr std::uint32_t no_node = UINT32_MAX;

  FlameBuilder() { add(0, stacks::FunctionId::none, 0); }

  // Returns the node's child for the function. The nodes of the tree are ordered by the least
  // `place` that each was requested with; a parent's is lower than its children's.
  std::uint32_t child(std::uint32_t parent, stacks::FunctionId function, std::uint64_t place) {
    Node& above = nodes_[parent];
    if (above.last_function == function && above.last_child != no_node) {
      Node& last = nodes_[above.last_child];
      last.place = std::min(last.place, place);
      return above.last_child;
    }
    const std::uint32_t node = edges_.number(parent, function) + 1;
    above.last_function = function;
    above.last_child = node;
    if (node == nodes_.size()) {
      add(parent, function, place);
    } else {
      nodes_[node].place = std::min(nodes_[node].place, place);
    }
    return node;
  }

  void add_uncertainty(std::uint32_t node, std::uint64_t uncertainty) {
    nodes_[node].uncertainty += uncertainty;
  }

  void count(std::uint32_t node, std::uint64_t self) {
    ++nodes_[node].calls;
    nodes_[node].self += self;
  }
  // Adds time of calls that have no node of their own.
  void add_merged(std::uint32_t node, std::uint64_t time) { nodes_[node].merged += time; }
  // Takes time from a node that was or will be added to it.
  void subtract_merged(std::uint32_t node, std::uint64_t time) { nodes_[node].merged -= time; }

  // Sums inclusive times, and removes nodes without calls and time at and below them.
  [[nodiscard]] FlameTree finish() const {
    FlameTree tree = in_order();
    std::vector<std::uint8_t> used(tree.size(), 0);
    for (std::size_t node = tree.size(); node-- > 0;) {
      tree.inclusive[node] += tree.self[node];
      used[node] |= static_cast<std::uint8_t>(tree.calls[node] > 0 || tree.self[node] > 0);
      if (node > 0) {
        tree.inclusive[tree.parent[node]] += tree.inclusive[node];
        used[tree.parent[node]] |= used[node];
      }
    }
    used[0] = 1;
    return std::ranges::find(used, 0) == used.end() ? tree : kept_of(tree, used);
  }

private:
  // What each call reads and changes is in one cache line.
  struct alignas(64) Node {
    std::uint32_t parent = 0;
    stacks::FunctionId function = stacks::FunctionId::none;
    stacks::FunctionId last_function = stacks::FunctionId::none; // of the child last requested
    std::uint32_t last_child = no_node;
    std::uint64_t place = 0;
    std::uint64_t self = 0;
    std::uint64_t calls = 0;
    std::uint64_t uncertainty = 0;
    std::uint64_t merged = 0; // of callees without nodes
  };

  void add(std::uint32_t parent, stacks::FunctionId function, std::uint64_t place) {
    nodes_.push_back({.parent = parent, .function = function, .place = place});
  }

  [[nodiscard]] FlameTree in_order() const {
    std::vector<std::uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto place = [this](std::uint32_t node) { return nodes_[node].place; };
    if (!std::ranges::is_sorted(order, {}, place)) {
      std::ranges::sort(order, {}, place);
    }
    std::vector<std::uint32_t> moved(order.size());
    for (std::uint32_t to = 0; to < order.size(); ++to) {
      moved[order[to]] = to;
    }
    FlameTree sorted;
    for (const std::uint32_t from : order) {
      const Node& node = nodes_[from];
      sorted.parent.push_back(moved[node.parent]);
      sorted.function.push_back(node.function);
      sorted.inclusive.push_back(0);
      // The times in damaged calls can be longer than these calls.
      const std::int64_t time =
          std::max<std::int64_t>(0, static_cast<std::int64_t>(node.self + node.merged));
      const std::int64_t merged =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(node.merged), 0, time);
      sorted.self.push_back(static_cast<std::uint64_t>(time));
      sorted.calls.push_back(node.calls);
      sorted.uncertainty.push_back(node.uncertainty);
      sorted.merged.push_back(static_cast<std::uint64_t>(merged));
      sorted.merged_nodes.push_back(merged > 0 ? FlameTree::not_counted : 0);
    }
    return sorted;
  }

  std::vector<Node, LargePages<Node>> nodes_;
  PairMap<std::uint32_t, stacks::FunctionId>
      edges_; // (parent, function) of the node with that number + 1
};

} // namespace ptlens::measure
