// The edges form a graph of functions. Reachability in it uses no native recursion.
#include "measure/selection/call_subset.hpp"

#include <algorithm>

namespace ptlens::measure {

using stacks::FunctionId;

CallsNeeded::CallsNeeded(const Measurement& measurement)
    : measurement_(&measurement), cache_(measurement.cache.get()), edges_(cache_->edge_count()) {}

void CallsNeeded::add_calls_of(FunctionId function) {
  for (const cache::EdgeId edge : cache_->edges_to(function)) {
    edges_[edge] = true;
  }
}

void CallsNeeded::add_calls_made_by(FunctionId function) {
  for (const cache::EdgeId edge : cache_->edges_from(function)) {
    edges_[edge] = true;
  }
}

void CallsNeeded::add_all_calls() {
  std::fill(edges_.begin(), edges_.end(), true);
}

void CallsNeeded::add_calls_below(FunctionId function) {
  add_calls_of(function);
  const Functions below = reachable({&function, 1}, false);
  for (const FunctionId each : below.ids()) {
    if (below[each]) {
      add_calls_made_by(each);
    }
  }
}

void CallsNeeded::add_paths_to(std::span<const FunctionId> ancestors,
                               std::span<const FunctionId> functions) {
  const Functions below = reachable(ancestors, false);
  const Functions above = reachable(functions, true);
  for (const FunctionId each : ancestors) {
    if (above[each]) {
      add_calls_of(each);
    }
  }
  for (const cache::EdgeId edge : edges_.ids()) {
    const cache::Edge& between = cache_->edge(edge);
    if (between.caller != FunctionId::none && below[between.caller] && above[between.function]) {
      edges_[edge] = true;
    }
  }
}

CallsNeeded::Functions CallsNeeded::reachable(std::span<const FunctionId> from,
                                              bool upwards) const {
  Functions reached(cache_->function_count());
  std::vector<FunctionId> left;
  const auto reach = [&](FunctionId function) {
    if (reached.has(function) && !reached[function]) {
      reached[function] = true;
      left.push_back(function);
    }
  };
  std::ranges::for_each(from, reach);
  while (!left.empty()) {
    const FunctionId function = left.back();
    left.pop_back();
    if (upwards) {
      for (const cache::EdgeId edge : cache_->edges_to(function)) {
        reach(cache_->edge(edge).caller); // none is no function
      }
    } else {
      for (const cache::EdgeId edge : cache_->edges_from(function)) {
        reach(cache_->edge(edge).function);
      }
    }
  }
  return reached;
}

std::vector<cache::EdgeId> CallsNeeded::edges() const {
  std::vector<cache::EdgeId> edges;
  for (const cache::EdgeId edge : edges_.ids()) {
    if (edges_[edge]) {
      edges.push_back(edge);
    }
  }
  return edges;
}

CallSubset CallsNeeded::read() const {
  return CallSubset(cache::read_calls(*cache_, edges()));
}

CallSubset CallsNeeded::read(std::span<const cache::Window> windows) const {
  return CallSubset(cache::read_calls(*cache_, edges(), windows));
}

} // namespace ptlens::measure
