// Reachability over the graph of edges; the parts of it that are recursive by the algorithm of
// Tarjan (Depth-first Search and Linear Graph Algorithms, SIAM J. Comput. 1972), without native
// recursion.
#include "measure/part.hpp"

#include "measure/names.hpp"

#include <algorithm>
#include <set>

namespace ptlens::measure {

namespace {

using stacks::no_call;

// Strongly connected components of functions.
class Components {
public:
  explicit Components(const store::CallStore& store)
      : store_(store), number_(store.sums().size(), no_call), low_(store.sums().size()),
        component_(store.sums().size(), no_call) {
    for (std::uint32_t function = 0; function < number_.size(); ++function) {
      if (number_[function] == no_call) {
        visit(function);
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(component_); }

private:
  struct Step {
    std::uint32_t function = 0;
    std::size_t next = 0; // of its edges
  };

  void enter(std::uint32_t function) {
    number_[function] = low_[function] = numbered_++;
    open_.push_back(function);
    way_.push_back({function, 0});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!way_.empty()) {
      const std::uint32_t function = way_.back().function;
      const auto edges = store_.edges_from(function);
      if (way_.back().next < edges.size()) {
        const std::uint32_t callee = store_.edges()[edges[way_.back().next++]].edge.function;
        if (number_[callee] == no_call) {
          enter(callee);
        } else if (component_[callee] == no_call) {
          low_[function] = std::min(low_[function], number_[callee]);
        }
        continue;
      }
      way_.pop_back();
      if (!way_.empty()) {
        std::uint32_t& above = low_[way_.back().function];
        above = std::min(above, low_[function]);
      }
      if (low_[function] == number_[function]) {
        close(function);
      }
    }
  }

  void close(std::uint32_t first) {
    while (true) {
      const std::uint32_t function = open_.back();
      open_.pop_back();
      component_[function] = first;
      if (function == first) {
        return;
      }
    }
  }

  const store::CallStore& store_;
  std::vector<std::uint32_t> number_; // in the order of entering
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> component_; // one of its functions
  std::vector<std::uint32_t> open_;
  std::vector<Step> way_;
  std::uint32_t numbered_ = 0;
};

} // namespace

void Part::fold(std::span<const std::uint32_t> functions) {
  if (table_ != nullptr) {
    store::Gathered all{.calls = *table_, .caller = {}};
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

Needs::Needs(const Measurement& measurement)
    : measurement_(&measurement), store_(measurement.store.get()),
      edges_(store_ == nullptr ? 0 : store_->edges().size()) {}

void Needs::calls_of(std::uint32_t function) {
  if (store_ != nullptr) {
    const auto [first, last] = store_->edges_to(function);
    std::fill(edges_.begin() + first, edges_.begin() + last, true);
  }
}

void Needs::calls_in(std::uint32_t function) {
  if (store_ != nullptr) {
    for (const std::uint32_t edge : store_->edges_from(function)) {
      edges_[edge] = true;
    }
  }
}

void Needs::calls_from(const std::vector<bool>& sites) {
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const std::uint32_t site = store_->edges()[edge].edge.site;
    if (site < sites.size() && sites[site]) {
      edges_[edge] = true;
    }
  }
}

void Needs::everything() {
  std::fill(edges_.begin(), edges_.end(), true);
}

void Needs::everything_below(std::uint32_t function) {
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

void Needs::way_up(std::uint32_t function, const Selection& selection) {
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
    const store::Edge& between = store_->edges()[edge].edge;
    if (between.caller != no_call && below[between.caller] && above[between.function]) {
      edges_[edge] = true;
    }
  }
}

void Needs::recursion() {
  std::set<std::uint32_t> functions;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const store::EdgeEntry& entry = store_->edges()[edge];
    if (edges_[edge] && !functions.contains(entry.edge.function) &&
        std::ranges::any_of(store_->blocks(edge),
                            [](const store::BlockEntry& block) { return block.inner != 0; })) {
      functions.insert(entry.edge.function);
    }
  }
  if (functions.empty()) {
    return;
  }
  const std::vector<std::uint32_t> component = Components(*store_).take();
  std::set<std::uint32_t> wanted;
  for (const std::uint32_t function : functions) {
    calls_of(function);
    wanted.insert(component[function]);
  }
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const store::Edge& between = store_->edges()[edge].edge;
    if (between.caller != no_call && component[between.caller] == component[between.function] &&
        wanted.contains(component[between.function])) {
      edges_[edge] = true;
    }
  }
}

void Needs::between(const std::vector<std::uint32_t>& functions) {
  if (store_ == nullptr) {
    return;
  }
  const Functions below = reachable(functions, false);
  const Functions above = reachable(functions, true);
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const store::Edge& way = store_->edges()[edge].edge;
    if (way.caller != no_call && below[way.caller] && above[way.function]) {
      edges_[edge] = true;
    }
  }
}

Needs::Functions Needs::reachable(const std::vector<std::uint32_t>& from, bool upwards) const {
  Functions reached(store_->sums().size());
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
        reach(store_->edges()[edge].edge.caller); // no_call is no function
      }
    } else {
      for (const std::uint32_t edge : store_->edges_from(function)) {
        reach(store_->edges()[edge].edge.function);
      }
    }
  }
  return reached;
}

std::vector<std::uint32_t> Needs::edges() const {
  std::vector<std::uint32_t> edges;
  for (std::uint32_t edge = 0; edge < edges_.size(); ++edge) {
    if (edges_[edge]) {
      edges.push_back(edge);
    }
  }
  return edges;
}

Part Needs::gather() const {
  return store_ == nullptr ? Part(measurement_->calls) : Part(store::gather(*store_, edges()));
}

} // namespace ptlens::measure
