// Merging calls into a flame graph: a call's node is its parent's node's child for its function, so
// one pass from parents to children places all, and one pass back over the tree sums the times.
// What of a call's time away is its own is known when its thread is done.
#include "measure/flame.hpp"

#include "base/cancellation.hpp"
#include "cache/walk.hpp"
#include "measure/names/names.hpp"
#include "measure/selection/call_filter.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/statistics/pair_map.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::no_call;

constexpr std::uint32_t no_node = no_call;
constexpr std::uint32_t calls_a_look = 1 << 16; // whether the work is cancelled

std::uint64_t subtract(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}

class Builder {
public:
  Builder() { add(0, no_call, 0); }

  // The nodes of the tree come in the order of `place`, the least that each was asked for with;
  // a parent's is below its children's.
  std::uint32_t child(std::uint32_t parent, std::uint32_t function, std::uint64_t place) {
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

  void count(std::uint32_t node, std::uint64_t self) {
    ++tree_.calls[node];
    tree_.self[node] += self;
  }

  // Sums inclusive time, then leaves out nodes without calls at or below them and nodes that are
  // too small.
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
  struct Last { // child that was asked for
    std::uint32_t function = no_call;
    std::uint32_t node = no_node;
  };

  void add(std::uint32_t parent, std::uint32_t function, std::uint64_t place) {
    place_.push_back(place);
    last_child_.emplace_back();
    tree_.parent.push_back(parent);
    tree_.function.push_back(function);
    tree_.inclusive.push_back(0);
    tree_.self.push_back(0);
    tree_.calls.push_back(0);
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
    }
    tree_ = std::move(sorted);
  }

  [[nodiscard]] FlameTree compact(const std::vector<std::uint8_t>& used, double smallest) const {
    const double limit = smallest > 0 ? smallest * static_cast<double>(tree_.inclusive[0]) : 0;
    FlameTree kept;
    std::vector<std::uint32_t> moved(tree_.size(), no_node);
    for (std::size_t node = 0; node < tree_.size(); ++node) {
      const std::uint32_t parent = moved[tree_.parent[node]];
      if (node > 0) {
        if (used[node] == 0 || parent == no_node) {
          continue;
        }
        if (static_cast<double>(tree_.inclusive[node]) < limit) {
          kept.self[parent] += tree_.inclusive[node];
          continue;
        }
      }
      moved[node] = static_cast<std::uint32_t>(kept.size());
      kept.parent.push_back(node > 0 ? parent : 0);
      kept.function.push_back(tree_.function[node]);
      kept.inclusive.push_back(tree_.inclusive[node]);
      kept.self.push_back(tree_.self[node]);
      kept.calls.push_back(tree_.calls[node]);
    }
    return kept;
  }

  FlameTree tree_;
  PairMap edges_; // (parent, function) of node number + 1
  std::vector<std::uint64_t> place_;
  std::vector<Last> last_child_; // of each node
};

// What a flame graph takes of a call; `id` and `parent` number the calls of one thread.
struct FlameCall {
  std::uint32_t id = 0;
  std::uint32_t parent = no_call;
  std::uint32_t thread = 0;
  std::uint32_t function = 0;
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t children = 0;
  std::uint64_t outside = 0;
  std::uint64_t off_cpu = 0;
};

// Takes the calls of one thread after the other, parents before their children.
class FlameWalk {
public:
  FlameWalk(const Measurement& measurement, const std::vector<std::uint32_t>& functions,
            const Selection& selection, FlameTime time)
      : measurement_(measurement), some_(!functions.empty()), selection_(selection), time_(time),
        everything_(functions.empty() && admits_all(selection)),
        origin_(selection.time ? trace_start(measurement) : 0),
        asked_(measurement.functions.size(), functions.empty() ? 1 : 0),
        ancestor_(measurement.functions.size(), 0) {
    for (const std::uint32_t function : functions) {
      if (function < asked_.size()) {
        asked_[function] = 1;
      }
    }
    if (!selection.ancestor.empty()) {
      for (const std::uint32_t named :
           functions_named(measurement, parse_selector(selection.ancestor), {})) {
        ancestor_[named] = 1;
      }
    }
  }

  // Ids of the thread are below `ids`.
  void begin_thread(std::uint32_t ids) {
    states_.assign(ids, {});
    away_.clear();
  }

  void take(const FlameCall& call) {
    const std::uint64_t place = 2 * ++taken_; // an outside part's is one higher
    State& state = states_[call.id];
    const State* const parent = call.parent < states_.size() && states_[call.parent].taken
                                    ? &states_[call.parent]
                                    : nullptr;
    const bool below = parent != nullptr && parent->holds_asked;
    state.taken = true;
    state.counted = everything_ || (parent != nullptr && parent->counted) ||
                    (asked_[call.function] != 0 && admits(call, below));
    state.holds_asked = below || (ancestor_[call.function] != 0 &&
                                  selection_.ancestor_latency.contains(call.latency));
    if (parent != nullptr && parent->away != 0) {
      Away& above = away_[parent->away - 1];
      above.outside = subtract(above.outside, call.outside);
      above.off_cpu = subtract(above.off_cpu, call.off_cpu);
    }
    if (some_ && !state.counted) {
      return;
    }
    const std::uint32_t above = parent == nullptr || parent->node == no_node ? 0 : parent->node;
    state.node = builder_.child(above, call.function, place);
    if (!state.counted) {
      return;
    }
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
    std::uint32_t away = 0; // index + 1, of those that were away
    bool taken = false;
    bool counted = false;
    bool holds_asked = false; // it is the ancestor that is asked for, or below one
  };
  // A call that was switched out or outside user code; what its children were is taken off.
  struct Away {
    std::uint32_t node = no_node;
    std::uint64_t place = 0;
    std::uint64_t self = 0;
    std::uint64_t outside = 0;
    std::uint64_t off_cpu = 0;
  };

  [[nodiscard]] bool admits(const FlameCall& call, bool below) const {
    if (selection_.tid && measurement_.threads[call.thread].tid != *selection_.tid) {
      return false;
    }
    if (selection_.latency && !selection_.latency->contains(call.latency)) {
      return false;
    }
    if (selection_.time && !selection_.time->contains(subtract(call.start, origin_))) {
      return false;
    }
    return selection_.ancestor.empty() || below;
  }

  const Measurement& measurement_;
  bool some_; // functions are asked about, not all
  const Selection& selection_;
  FlameTime time_;
  bool everything_;
  std::uint64_t origin_;
  std::vector<std::uint8_t> asked_;    // of each function: whether it is asked about
  std::vector<std::uint8_t> ancestor_; // of each function: whether it has the name asked for
  Builder builder_;
  std::uint64_t taken_ = 0;
  std::vector<State> states_; // by id
  std::vector<Away> away_;
};

FlameTree flame_of(const stacks::CallTable& calls, FlameWalk walk, double smallest) {
  walk.begin_thread(static_cast<std::uint32_t>(calls.size()));
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (call % calls_a_look == 0 && cancel_asked()) {
      break;
    }
    walk.take({.id = call,
               .parent = calls.parent[call],
               .thread = calls.thread[call],
               .function = calls.function[call],
               .start = calls.start[call],
               .latency = calls.latency[call],
               .children = calls.children[call],
               .outside = calls.outside[call],
               .off_cpu = calls.off_cpu(call)});
  }
  walk.end_thread();
  return walk.finish(smallest);
}

// Nothing where the calls of a thread did not begin in the order of their opening.
std::optional<FlameTree> flame_of(const cache::CallCache& store,
                                  std::span<const std::uint32_t> edges, FlameWalk walk,
                                  double smallest) {
  for (std::uint32_t thread = 0; thread < store.thread_count(); ++thread) {
    cache::ThreadWalk calls(store, edges, thread);
    walk.begin_thread(calls.orders());
    const bool in_order = calls.run([&](const cache::WalkedCall& call) {
      walk.take({.id = call.order,
                 .parent = call.parent,
                 .thread = thread,
                 .function = store.edge(call.edge).function,
                 .start = call.start,
                 .latency = call.latency,
                 .children = call.children,
                 .outside = call.outside,
                 .off_cpu = call.off_cpu});
    });
    if (!in_order) {
      return std::nullopt;
    }
    walk.end_thread();
  }
  return walk.finish(smallest);
}

} // namespace

stacks::FunctionInfo frame_function(const Measurement& measurement, std::uint32_t function) {
  if (function == outside_user_code) {
    stacks::FunctionInfo outside;
    outside.name = "[outside user code]";
    outside.binary = "[kernel]";
    return outside;
  }
  return function < measurement.functions.size() ? measurement.functions[function]
                                                 : stacks::FunctionInfo{};
}

FlameTree flame(const Measurement& measurement, std::optional<std::uint32_t> function,
                const Selection& selection, FlameTime time, double smallest) {
  return flame(measurement,
               function ? std::vector<std::uint32_t>{*function} : std::vector<std::uint32_t>{},
               selection, time, smallest);
}

FlameTree flame(const Measurement& measurement, const std::vector<std::uint32_t>& functions,
                const Selection& selection, FlameTime time, double smallest) {
  if (measurement.store == nullptr) {
    return flame_of(measurement.calls, FlameWalk(measurement, functions, selection, time),
                    smallest);
  }
  CallsNeeded needs(measurement);
  for (const std::uint32_t function : functions) {
    needs.everything_below(function);
    needs.way_up(function, selection);
  }
  if (functions.empty()) {
    needs.everything();
  }
  auto tree = flame_of(*measurement.store, needs.edges(),
                       FlameWalk(measurement, functions, selection, time), smallest);
  return tree ? std::move(*tree)
              : flame_of(needs.gather().calls(), FlameWalk(measurement, functions, selection, time),
                         smallest);
}

} // namespace ptlens::measure
