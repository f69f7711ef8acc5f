// Merges calls into a flame graph. The node of a call is the child of its parent's node for its
// function, so that one pass from parents to children finds all nodes and one pass back over the
// tree sums the times. A call's own share of its time away is known at the end of its thread.
#include "measure/flame/flame.hpp"

#include "cache/reading/walk.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/statistics/pair_map.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::CallState;
using stacks::FunctionId;

constexpr std::uint32_t no_node = UINT32_MAX;

std::uint64_t subtract(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}

class Builder {
public:
  Builder() { add(0, FunctionId::none, 0); }

  // Returns the node's child for the function. The nodes of the tree are ordered by the least
  // `place` that each was requested with; a parent's is lower than its children's.
  std::uint32_t child(std::uint32_t parent, FunctionId function, std::uint64_t place) {
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
    FunctionId function = FunctionId::none;
    std::uint32_t node = no_node;
  };

  void add(std::uint32_t parent, FunctionId function, std::uint64_t place) {
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
  PairMap<std::uint32_t, FunctionId> edges_; // (parent, function) of the node with that number + 1
  std::vector<std::uint64_t> place_;
  std::vector<Last> last_child_; // by node
};

// Takes the calls, one thread after the other and parents before their children.
class FlameWalk {
public:
  FlameWalk(const Measurement& measurement, const std::vector<FunctionId>& functions,
            const cache::OrderSet* selected, FlameTime time)
      : cache_(*measurement.cache), some_(!functions.empty()), selected_(selected), time_(time),
        requested_(measurement.functions.size(), functions.empty() ? 1 : 0) {
    for (const FunctionId function : functions) {
      if (requested_.has(function)) {
        requested_[function] = 1;
      }
    }
  }

  // The thread's calls have orders below `orders`.
  void begin_thread(std::uint32_t thread, std::uint32_t orders) {
    thread_ = thread;
    states_.assign(orders, {});
    away_.clear();
  }

  void take(const cache::WalkedCall& call) {
    const FunctionId function = cache_.edge(call.edge).function;
    const std::uint64_t place = 2 * ++taken_; // odd numbers are for time outside user code
    State& state = states_[index_of(call.order)];
    const State* const parent =
        index_of(call.parent) < states_.size() && states_[index_of(call.parent)].taken
            ? &states_[index_of(call.parent)]
            : nullptr;
    state.taken = true;
    state.counted = (parent != nullptr && parent->counted) ||
                    (requested_[function] != 0 &&
                     (selected_ == nullptr || selected_->has(thread_, call.order)));
    if (parent != nullptr && parent->away != 0) {
      Away& above = away_[parent->away - 1];
      above.outside = subtract(above.outside, call.outside);
      above.off_cpu = subtract(above.off_cpu, call.off_cpu);
    }
    if (some_ && !state.counted) {
      return;
    }
    const std::uint32_t above = parent == nullptr || parent->node == no_node ? 0 : parent->node;
    state.node = builder_.child(above, function, place);
    if (!state.counted || call.end_unknown) {
      return;
    }
    builder_.add_uncertainty(state.node, call.uncertainty);
    const std::uint64_t self = subtract(call.latency, call.children);
    if (call.outside == 0 && call.off_cpu == 0) {
      builder_.count(state.node, time_ == FlameTime::off_cpu ? 0 : self);
      return;
    }
    away_.push_back({.node = state.node,
                     .place = place,
                     .self = self,
                     .outside = call.outside,
                     .off_cpu = call.off_cpu});
    state.away = static_cast<std::uint32_t>(away_.size());
  }

  void end_thread() {
    for (const Away& call : away_) {
      std::uint64_t self = call.self;
      std::uint64_t outside = 0;
      if (time_ == FlameTime::off_cpu) {
        self = std::min(self, call.off_cpu);
      } else {
        outside = std::min(self, call.outside);
        if (time_ == FlameTime::on_cpu) {
          self = subtract(self, call.off_cpu);
          outside = std::min(self, subtract(outside, call.off_cpu));
        }
      }
      builder_.count(call.node, self - outside);
      if (outside != 0) {
        builder_.count(builder_.child(call.node, outside_user_code, call.place + 1), outside);
      }
    }
    away_.clear();
  }

  FlameTree finish(double smallest) { return builder_.finish(smallest); }

private:
  struct State { // of a call
    std::uint32_t node = no_node;
    std::uint32_t away = 0; // index in away_ + 1, 0: it never was away
    bool taken = false;
    bool counted = false;
  };
  // A call that was switched out or outside user code, without its children's share of that time.
  struct Away {
    std::uint32_t node = no_node;
    std::uint64_t place = 0;
    std::uint64_t self = 0;
    std::uint64_t outside = 0;
    std::uint64_t off_cpu = 0;
  };

  const cache::CallCache& cache_;
  bool some_;                       // some functions are requested, not all
  const cache::OrderSet* selected_; // null: every call
  FlameTime time_;
  IdVector<FunctionId, std::uint8_t> requested_;
  Builder builder_;
  std::uint64_t taken_ = 0;
  std::uint32_t thread_ = 0;
  std::vector<State> states_; // by order
  std::vector<Away> away_;
};

// Returns the states that count where the selection names none.
stacks::CallStates counted_states(const cache::CallCache& cache,
                                  const std::vector<FunctionId>& functions) {
  const bool any_complete = std::ranges::any_of(functions, [&](FunctionId function) {
    return cache.sums(function).calls[static_cast<std::size_t>(CallState::complete)] > 0;
  });
  return any_complete ? stacks::CallStates{CallState::complete} : stacks::CallStates::all();
}

// Returns nothing where the calls of a thread did not start in the order of their opening, unless
// `sorted` asks to sort them.
std::optional<FlameTree> flame_of(const cache::CallCache& cache,
                                  std::span<const cache::EdgeId> edges, FlameWalk walk,
                                  double smallest, bool sorted) {
  for (std::uint32_t thread = 0; thread < cache.thread_count(); ++thread) {
    cache::ThreadWalk calls(cache, edges, thread);
    walk.begin_thread(thread, calls.orders());
    const auto take = [&](const cache::WalkedCall& call) { walk.take(call); };
    if (sorted) {
      calls.run_sorted(take);
    } else if (!calls.run(take)) {
      return std::nullopt;
    }
    walk.end_thread();
  }
  return walk.finish(smallest);
}

} // namespace

stacks::FunctionInfo frame_function(const Measurement& measurement, FunctionId function) {
  if (function == outside_user_code) {
    stacks::FunctionInfo outside;
    outside.name = "[outside user code]";
    outside.binary = "[kernel]";
    return outside;
  }
  return measurement.functions.has(function) ? measurement.functions[function]
                                             : stacks::FunctionInfo{};
}

FlameTree flame(const Measurement& measurement, std::optional<FunctionId> function,
                const Selection& selection, FlameTime time, double smallest) {
  return flame(measurement,
               function ? std::vector<FunctionId>{*function} : std::vector<FunctionId>{}, selection,
               time, smallest);
}

FlameTree flame(const Measurement& measurement, const std::vector<FunctionId>& functions,
                const Selection& selection, FlameTime time, double smallest) {
  const cache::CallCache& cache = *measurement.cache;
  CallsNeeded needed(measurement);
  for (const FunctionId function : functions) {
    needed.add_calls_below(function);
  }
  std::vector<FunctionId> selectable = functions;
  if (functions.empty()) {
    needed.add_all_calls();
    const auto all = measurement.functions.ids();
    selectable.assign(all.begin(), all.end());
  }
  const stacks::CallStates states = selection.states_or(counted_states(cache, functions));
  std::optional<cache::OrderSet> selected;
  if (!selection.accepts_all() || states != stacks::CallStates::all()) {
    selected = select_calls(measurement, selectable, selection, states);
  }
  const FlameWalk walk(measurement, functions, selected ? &*selected : nullptr, time);
  const std::vector<cache::EdgeId> edges = needed.edges();
  auto tree = flame_of(cache, edges, walk, smallest, false);
  if (!tree) {
    tree = flame_of(cache, edges, walk, smallest, true);
  }
  return std::move(*tree);
}

} // namespace ptlens::measure
