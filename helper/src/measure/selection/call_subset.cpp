// Reachability over the graph of edges, without native recursion.
#include "measure/selection/call_subset.hpp"

#include "measure/names/names.hpp"

#include <algorithm>

namespace ptlens::measure {

using stacks::no_call;

void CallSubset::fold(std::span<const std::uint32_t> functions) {
  if (table_ != nullptr) {
    cache::Gathered all{.calls = *table_, .caller = {}};
    all.caller.reserve(all.calls.size());
    for (std::uint32_t call = 0; call < all.calls.size(); ++call) {
      all.caller.push_back(outer_function(call));
    }
    gathered_ = std::move(all);
    table_ = nullptr;
  }
  for (std::uint32_t& function : gathered_.calls.function) {
    if (std::ranges::find(functions, function) != functions.end()) {
      function = functions.front();
    }
  }
}

CallsNeeded::CallsNeeded(const Measurement& measurement)
    : measurement_(&measurement), store_(measurement.store.get()),
      edges_(store_ == nullptr ? 0 : store_->edge_count()) {}

void CallsNeeded::calls_of(std::uint32_t function) {
  if (store_ != nullptr) {
    const auto [first, last] = store_->edges_to(function);
    std::fill(edges_.begin() + first, edges_.begin() + last, true);
  }
}

void CallsNeeded::calls_in(std::uint32_t function) {
  if (store_ != nullptr) {
    for (const std::uint32_t edge : store_->edges_from(function)) {
      edges_[edge] = true;
    }
  }
}

void CallsNeeded::calls_from(const std::vector<bool>& sites) {
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const std::uint32_t site = store_->edge(edge).site;
    if (site < sites.size() && sites[site]) {
      edges_[edge] = true;
    }
  }
}

void CallsNeeded::everything() {
  std::fill(edges_.begin(), edges_.end(), true);
}

void CallsNeeded::everything_below(std::uint32_t function) {
  if (store_ == nullptr) {
    return;
  }
  calls_of(function);
  const Functions below = reachable({function}, false);
  for (std::uint32_t each = 0; each < below.size(); ++each) {
    if (below[each]) {
      calls_in(each);
    }
  }
}

void CallsNeeded::way_up(std::uint32_t function, const Selection& selection) {
  if (store_ == nullptr || selection.ancestor.empty()) {
    return;
  }
  const std::vector<std::uint32_t> named =
      functions_named(*measurement_, parse_selector(selection.ancestor), {});
  const Functions below = reachable(named, false);
  const Functions above = reachable({function}, true);
  for (const std::uint32_t each : named) {
    if (above[each]) {
      calls_of(each);
    }
  }
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const cache::Edge& between = store_->edge(edge);
    if (between.caller != no_call && below[between.caller] && above[between.function]) {
      edges_[edge] = true;
    }
  }
}

CallsNeeded::Functions CallsNeeded::reachable(const std::vector<std::uint32_t>& from,
                                              bool upwards) const {
  Functions reached(store_->function_count());
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
      const auto [first, last] = store_->edges_to(function);
      for (std::uint32_t edge = first; edge < last; ++edge) {
        reach(store_->edge(edge).caller); // no_call is no function
      }
    } else {
      for (const std::uint32_t edge : store_->edges_from(function)) {
        reach(store_->edge(edge).function);
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

CallSubset CallsNeeded::gather() const {
  return store_ == nullptr ? CallSubset(measurement_->calls)
                           : CallSubset(cache::gather(*store_, edges()));
}

} // namespace ptlens::measure
