// Merges calls into a flame graph. The node of a call is the child of its parent's node for its
// function, so that one pass from parents to children finds all nodes and one pass back over the
// tree sums the times. A call's own share of its time away is known at the end of its thread.
//
// A node has at most the time of all calls of its function. So the calls of a function that has
// less than the smallest node together, and the calls in them, need no nodes: they are merged into
// the node of the call that they are in, and its time is the latency of its calls without that of
// the calls in them that have nodes. Merged calls are read only where they were off the CPU or
// outside user code.
#include "measure/flame/flame.hpp"

#include "cache/reading/walk.hpp"
#include "cache/writing/tally.hpp"
#include "measure/flame/flame_builder.hpp"
#include "measure/flame/waits_of_calls.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::CallState;
using stacks::FunctionId;

constexpr std::uint32_t no_call = UINT32_MAX;

// Represents a wait as a function.
FunctionId waiting(const WaitCause& cause) {
  const auto reason = static_cast<std::uint32_t>(cause.reason);
  return FunctionId{static_cast<std::uint32_t>(outside_user_code) - 1 - 2 * reason -
                    (cause.likely ? 1 : 0)};
}

std::uint64_t subtract(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}

// Takes the calls, one thread after the other and parents before their children.
class FlameWalk {
public:
  FlameWalk(const Measurement& measurement, const std::vector<FunctionId>& functions,
            const cache::OrderSet* selected, FlameTime time, const waits::Waits* waits,
            IdVector<FunctionId, std::uint8_t> small, bool skips)
      : cache_(*measurement.cache), some_(!functions.empty()), selected_(selected), time_(time),
        threads_(measurement.threads),
        waits_(time == FlameTime::on_cpu ? nullptr : waits, measurement.functions),
        requested_(measurement.functions.size(), functions.empty() ? 1 : 0),
        small_(std::move(small)), skips_(skips), adds_merged_(skips && time != FlameTime::off_cpu) {
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
    waits_.begin_thread(threads_[thread].tid);
  }

  void take(const cache::WalkedCall& call) {
    const FunctionId function = cache_.edge(call.edge).function;
    const std::uint64_t place = 2 * ++taken_; // odd numbers are for time outside user code
    State& state = states_[index_of(call.order)];
    const State* const parent =
        index_of(call.parent) < states_.size() && states_[index_of(call.parent)].taken
            ? &states_[index_of(call.parent)]
            : nullptr;
    if (skips_ && parent == nullptr && call.parent != stacks::CallId::none) {
      return; // in a merged call that was not read
    }
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
    const std::uint32_t above =
        parent == nullptr || parent->node == FlameBuilder::no_node ? 0 : parent->node;
    state.merged =
        (parent != nullptr && parent->merged) || (small_.has(function) && small_[function] != 0);
    state.node = state.merged ? above : builder_.child(above, function, place);
    if (adds_merged_) {
      if (!state.merged) {
        builder_.add_merged(state.node, call.children);
      } else if (parent == nullptr) {
        builder_.add_merged(state.node, call.latency);
      }
      if (!state.merged && parent != nullptr) {
        builder_.subtract_merged(parent->node, call.latency);
      }
    }
    const std::uint64_t end = call.start + call.latency;
    if (!state.counted || call.end_unknown) {
      waits_.open(call.start, end, no_call, function);
      return;
    }
    const std::uint64_t self = subtract(call.latency, call.children);
    if (!state.merged) {
      builder_.add_uncertainty(state.node, call.uncertainty);
    }
    if (call.outside == 0 && call.off_cpu == 0) {
      const std::uint64_t time = time_ == FlameTime::off_cpu ? 0 : self;
      if (!state.merged) {
        builder_.count(state.node, time);
      } else if (!adds_merged_) {
        builder_.add_merged(state.node, time);
      }
      waits_.open(call.start, end, no_call, function);
      return;
    }
    waits_.open(call.start, end, static_cast<std::uint32_t>(away_.size()), function);
    away_.push_back({.node = state.node,
                     .place = place,
                     .self = self,
                     .outside = call.outside,
                     .off_cpu = call.off_cpu,
                     .merged = state.merged});
    state.away = static_cast<std::uint32_t>(away_.size());
  }

  void end_thread() {
    const std::vector<WaitsOfCalls::Times> waited = waits_.finish(away_.size());
    for (std::size_t at = 0; at < away_.size(); ++at) {
      const Away& call = away_[at];
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
      if (call.merged) {
        if (adds_merged_) {
          builder_.subtract_merged(call.node, call.self - self);
        } else {
          builder_.add_merged(call.node, self);
        }
        continue;
      }
      const std::uint64_t known =
          waited.empty() ? 0 : add_waits(call, waited[at], std::min(self, call.off_cpu));
      self -= known;
      outside = std::min(self, subtract(outside, known));
      builder_.count(call.node, self - outside);
      if (outside != 0) {
        builder_.count(builder_.child(call.node, outside_user_code, call.place + 1), outside);
      }
    }
    away_.clear();
  }

  [[nodiscard]] FlameTree finish() const { return builder_.finish(); }

private:
  struct State { // of a call
    std::uint32_t node = FlameBuilder::no_node;
    std::uint32_t away = 0; // index in away_ + 1, 0: it never was away
    bool taken = false;
    bool counted = false;
    bool merged = false; // `node` is of a caller
  };
  // A call that was switched out or outside user code, without its children's share of that time.
  struct Away {
    std::uint32_t node = FlameBuilder::no_node;
    std::uint64_t place = 0;
    std::uint64_t self = 0;
    std::uint64_t outside = 0;
    std::uint64_t off_cpu = 0;
    bool merged = false;
  };

  // Adds a leaf for each cause. Returns their time, which is at most `most`.
  std::uint64_t add_waits(const Away& call, const WaitsOfCalls::Times& waited, std::uint64_t most) {
    std::uint64_t rest = most;
    for (const auto& [cause, waiting_time] : waited) {
      const std::uint64_t time = std::min(rest, waiting_time);
      if (time != 0) {
        builder_.count(builder_.child(call.node, waiting(cause), call.place + 1), time);
        rest -= time;
      }
    }
    return most - rest;
  }

  const cache::CallCache& cache_;
  bool some_;                       // some functions are requested, not all
  const cache::OrderSet* selected_; // null: every call
  FlameTime time_;
  const std::vector<stacks::ThreadInfo>& threads_;
  WaitsOfCalls waits_;
  IdVector<FunctionId, std::uint8_t> requested_;
  IdVector<FunctionId, std::uint8_t> small_; // empty: no function is small
  bool skips_;                               // merged calls may be left out
  bool adds_merged_; // a call's node is given the time in its merged callees
  FlameBuilder builder_;
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

// Returns the functions whose calls together have less than `smallest` of the time of all calls,
// which is at least that of any function. Nothing where all of them have no time.
std::optional<IdVector<FunctionId, std::uint8_t>> small_functions(const Measurement& measurement,
                                                                  FlameTime time, double smallest) {
  const cache::CallCache& cache = *measurement.cache;
  const auto double_of = [](const cache::Sum& sum) {
    return static_cast<double>(cache::wide(sum));
  };
  const auto time_of = [&](FunctionId function, bool at_least) {
    const cache::FunctionSums& sums = cache.sums(function);
    if (time == FlameTime::off_cpu) {
      return double_of(sums.off_cpu);
    }
    const bool without_off = time == FlameTime::on_cpu && at_least;
    return double_of(sums.inclusive) - (without_off ? double_of(sums.off_cpu) : 0);
  };
  double most = 0; // a lower bound of the time of all calls
  for (const FunctionId function : measurement.functions.ids()) {
    most = std::max(most, time_of(function, true));
  }
  if (most <= 0) {
    return std::nullopt;
  }
  IdVector<FunctionId, std::uint8_t> small(measurement.functions.size(), 0);
  for (const FunctionId function : measurement.functions.ids()) {
    const double of_function = time_of(function, false);
    small[function] = static_cast<std::uint8_t>(of_function <= 0 || of_function < smallest * most);
  }
  return small;
}

// Returns whether a root begins before another one on its thread has ended, on another stack. It is
// not known then which calls contain its time.
bool roots_overlap(const cache::CallCache& cache, std::span<const cache::EdgeId> edges) {
  struct Root {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  std::vector<std::vector<Root>> roots(cache.thread_count());
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> walls;
  for (const cache::EdgeId edge : edges) {
    if (cache.edge(edge).caller != FunctionId::none) {
      continue;
    }
    for (const cache::BlockEntry& entry : cache.blocks(edge)) {
      if (const auto block = cache.block(entry)) {
        block->read_starts(entry, cache::sized_for(entry, starts));
        block->read_walls(entry, cache::sized_for(entry, walls));
        for (std::size_t call = 0; call < starts.size(); ++call) {
          roots[entry.thread].push_back({.start = starts[call], .end = starts[call] + walls[call]});
        }
      }
    }
  }
  return std::ranges::any_of(roots, [](std::vector<Root>& of_thread) {
    std::ranges::sort(of_thread, {}, &Root::start);
    return std::ranges::adjacent_find(of_thread, [](const Root& one, const Root& next) {
             return next.start < one.end;
           }) != of_thread.end();
  });
}

// Returns nothing where the calls of a thread did not start in the order of their opening, unless
// `sorted` asks to sort them.
std::optional<FlameTree> flame_of(const cache::CallCache& cache,
                                  std::span<const cache::EdgeId> edges,
                                  std::span<const cache::EdgeId> skipped, FlameWalk walk,
                                  bool sorted) {
  for (std::uint32_t thread = 0; thread < cache.thread_count(); ++thread) {
    cache::ThreadWalk calls(cache, edges, skipped, thread);
    walk.begin_thread(thread, calls.orders());
    const auto take = [&](const cache::WalkedCall& call) { walk.take(call); };
    if (sorted) {
      calls.run_sorted(take);
    } else if (!calls.run(take)) {
      return std::nullopt;
    }
    walk.end_thread();
  }
  return walk.finish();
}

} // namespace

std::optional<WaitCause> waits_for(FunctionId function) {
  const std::uint32_t below =
      static_cast<std::uint32_t>(outside_user_code) - static_cast<std::uint32_t>(function);
  if (below == 0 || below > 2 * waits::reasons) {
    return std::nullopt;
  }
  const std::uint32_t number = below - 1;
  return WaitCause{.reason = static_cast<waits::Reason>(number / 2), .likely = number % 2 == 1};
}

stacks::FunctionInfo frame_function(const Measurement& measurement, FunctionId function) {
  if (function == outside_user_code) {
    stacks::FunctionInfo outside;
    outside.name = "[outside user code]";
    outside.binary = "[kernel]";
    return outside;
  }
  if (const auto cause = waits_for(function)) {
    stacks::FunctionInfo waiting;
    waiting.name = cause->reason == waits::Reason::preempted
                       ? "[preempted]"
                       : std::string(cause->likely ? "[likely waiting: " : "[waiting: ")
                             .append(waits::word(cause->reason))
                             .append("]");
    waiting.binary = "[waiting]";
    return waiting;
  }
  return measurement.functions.has(function) ? measurement.functions[function]
                                             : stacks::FunctionInfo{};
}

FlameTree flame(const Measurement& measurement, std::optional<FunctionId> function,
                const Selection& selection, FlameTime time, double smallest,
                const waits::Waits* waits) {
  return flame(measurement,
               function ? std::vector<FunctionId>{*function} : std::vector<FunctionId>{}, selection,
               time, smallest, waits);
}

FlameTree flame(const Measurement& measurement, const std::vector<FunctionId>& functions,
                const Selection& selection, FlameTime time, double smallest,
                const waits::Waits* waits) {
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
  // The time that probes took is subtracted call by call: a call can be shorter than those in it.
  IdVector<FunctionId, std::uint8_t> small;
  if (functions.empty() && !selected && !measurement.is_corrected() && smallest > 0) {
    auto found = small_functions(measurement, time, smallest);
    if (!found) {
      return FlameBuilder().finish();
    }
    small = std::move(*found);
  }
  std::vector<cache::EdgeId> edges = needed.edges();
  std::span<const cache::EdgeId> read = edges;
  std::span<const cache::EdgeId> skipped;
  const bool skips = small.size() != 0 && !roots_overlap(cache, edges);
  if (skips) {
    skipped = std::ranges::stable_partition(edges, [&](cache::EdgeId edge) {
      const cache::Edge& between = cache.edge(edge);
      return between.caller == FunctionId::none || small[between.function] == 0;
    });
    read = read.first(read.size() - skipped.size());
  }
  const FlameWalk walk(measurement, functions, selected ? &*selected : nullptr, time, waits,
                       std::move(small), skips);
  auto tree = flame_of(cache, read, skipped, walk, false);
  if (!tree) {
    tree = flame_of(cache, read, skipped, walk, true);
  }
  return smallest > 0 ? pruned(*tree, smallest) : std::move(*tree);
}

} // namespace ptlens::measure
