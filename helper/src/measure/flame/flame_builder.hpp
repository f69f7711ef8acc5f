// Builds the tree of a flame graph: nodes by parent and function, their sums, and which of them are
// large enough to keep.
#pragma once

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
    Last& last = last_child_[parent];
    if (last.function != function || last.node == no_node) {
      const std::uint32_t node = edges_.number(parent, function) + 1;
      if (node == tree_.size()) {
        add(parent, function, place);
      }
      last_child_[parent] = {.function = function, .node = node};
      place_[node] = std::min(place_[node], place);
      return node;
    }
    place_[last.node] = std::min(place_[last.node], place);
    return last.node;
  }

  void add_uncertainty(std::uint32_t node, std::uint64_t uncertainty) {
    tree_.uncertainty[node] += uncertainty;
  }

  void count(std::uint32_t node, std::uint64_t self) {
    ++tree_.calls[node];
    tree_.self[node] += self;
  }

  // Sums inclusive times, then removes nodes without calls at or below them and nodes that are too
  // small.
  FlameTree finish(double smallest) {
    put_in_order();
    std::vector<std::uint8_t> used(tree_.size(), 0);
    for (std::size_t node = tree_.size(); node-- > 0;) {
      tree_.inclusive[node] += tree_.self[node];
      used[node] |= static_cast<std::uint8_t>(tree_.calls[node] > 0);
      if (node > 0) {
        tree_.inclusive[tree_.parent[node]] += tree_.inclusive[node];
        used[tree_.parent[node]] |= used[node];
      }
    }
    return compact(used, smallest);
  }

private:
  struct Last { // the child that was last requested
    stacks::FunctionId function = stacks::FunctionId::none;
    std::uint32_t node = no_node;
  };

  void add(std::uint32_t parent, stacks::FunctionId function, std::uint64_t place) {
    place_.push_back(place);
    last_child_.emplace_back();
    tree_.parent.push_back(parent);
    tree_.function.push_back(function);
    tree_.inclusive.push_back(0);
    tree_.self.push_back(0);
    tree_.calls.push_back(0);
    tree_.uncertainty.push_back(0);
  }

  void put_in_order() {
    if (std::ranges::is_sorted(place_)) {
      return;
    }
    std::vector<std::uint32_t> order(tree_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [this](std::uint32_t node) { return place_[node]; });
    std::vector<std::uint32_t> moved(order.size());
    for (std::uint32_t to = 0; to < order.size(); ++to) {
      moved[order[to]] = to;
    }
    FlameTree sorted;
    for (const std::uint32_t from : order) {
      sorted.parent.push_back(moved[tree_.parent[from]]);
      sorted.function.push_back(tree_.function[from]);
      sorted.inclusive.push_back(tree_.inclusive[from]);
      sorted.self.push_back(tree_.self[from]);
      sorted.calls.push_back(tree_.calls[from]);
      sorted.uncertainty.push_back(tree_.uncertainty[from]);
    }
    tree_ = std::move(sorted);
  }

  [[nodiscard]] FlameTree compact(const std::vector<std::uint8_t>& used, double smallest) const {
    const double limit = smallest > 0 ? smallest * static_cast<double>(tree_.inclusive[0]) : 0;
    FlameTree pruned;
    std::vector<std::uint32_t> moved(tree_.size(), no_node);
    for (std::size_t node = 0; node < tree_.size(); ++node) {
      const std::uint32_t parent = moved[tree_.parent[node]];
      if (node > 0) {
        if (used[node] == 0 || parent == no_node) {
          continue;
        }
        if (static_cast<double>(tree_.inclusive[node]) < limit) {
          pruned.self[parent] += tree_.inclusive[node];
          continue;
        }
      }
      moved[node] = static_cast<std::uint32_t>(pruned.size());
      pruned.parent.push_back(node > 0 ? parent : 0);
      pruned.function.push_back(tree_.function[node]);
      pruned.inclusive.push_back(tree_.inclusive[node]);
      pruned.self.push_back(tree_.self[node]);
      pruned.calls.push_back(tree_.calls[node]);
      pruned.uncertainty.push_back(tree_.uncertainty[node]);
    }
    return pruned;
  }

  FlameTree tree_;
  PairMap<std::uint32_t, stacks::FunctionId>
      edges_; // (parent, function) of the node with that number + 1
  std::vector<std::uint64_t> place_;
  std::vector<Last> last_child_; // by node
};

} // namespace ptlens::measure
