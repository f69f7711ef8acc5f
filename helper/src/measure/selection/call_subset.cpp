// The edges form a graph of functions. Reachability in it uses no native recursion.
#include "measure/selection/call_subset.hpp"

#include "measure/names/names.hpp"

#include <algorithm>

namespace ptlens::measure {

using stacks::no_call;

CallsNeeded::CallsNeeded(const Measurement& measurement)
    : measurement_(&measurement), cache_(measurement.cache.get()), edges_(cache_->edge_count()) {}

void CallsNeeded::add_calls_of(std::uint32_t function) {
  const auto [first, last] = cache_->edges_to(function);
  std::fill(edges_.begin() + first, edges_.begin() + last, true);
}

void CallsNeeded::add_calls_made_by(std::uint32_t function) {
  for (const std::uint32_t edge : cache_->edges_from(function)) {
    edges_[edge] = true;
  }
}

void CallsNeeded::add_all_calls() {
  std::fill(edges_.begin(), edges_.end(), true);
}

void CallsNeeded::add_calls_below(std::uint32_t function) {
  add_calls_of(function);
  const Functions below = reachable({function}, false);
  for (std::uint32_t each = 0; each < below.size(); ++each) {
    if (below[each]) {
      add_calls_made_by(each);
    }
  }
}

void CallsNeeded::add_path_to_ancestor(std::uint32_t function, const Selection& selection) {
  if (selection.ancestor.empty()) {
    return;
  }
  const std::vector<std::uint32_t> named =
      functions_named(*measurement_, parse_selector(selection.ancestor), {});
  const Functions below = reachable(named, false);
  const Functions above = reachable({function}, true);
  for (const std::uint32_t each : named) {
    if (above[each]) {
      add_calls_of(each);
    }
  }
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const cache::Edge& between = cache_->edge(edge);
    if (between.caller != no_call && below[between.caller] && above[between.function]) {
      edges_[edge] = true;
    }
  }
}

CallsNeeded::Functions CallsNeeded::reachable(const std::vector<std::uint32_t>& from,
                                              bool upwards) const {
  Functions reached(cache_->function_count());
  std::vector<std::uint32_t> left;
  const auto reach = [&](std::uint32_t function) {
    if (function < reached.size() && !reached[function]) {
      reached[function] = true;
      left.push_back(function);
    }
  };
  std::ranges::for_each(from, reach);
  while (!left.empty()) {
    const std::uint32_t function = left.back();
    left.pop_back();
    if (upwards) {
      const auto [first, last] = cache_->edges_to(function);
      for (std::uint32_t edge = first; edge < last; ++edge) {
        reach(cache_->edge(edge).caller); // no_call is no function
      }
    } else {
      for (const std::uint32_t edge : cache_->edges_from(function)) {
        reach(cache_->edge(edge).function);
      }
    }
  }
  return reached;
}

std::vector<std::uint32_t> CallsNeeded::edges() const {
  std::vector<std::uint32_t> edges;
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    if (edges_[edge]) {
      edges.push_back(edge);
    }
  }
  return edges;
}

CallSubset CallsNeeded::read() const {
  return CallSubset(cache::read_calls(*cache_, edges()));
}

} // namespace ptlens::measure
