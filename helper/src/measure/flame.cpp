// Merging calls into a flame graph: a call's node is its parent's node's child for its function, so
// one pass from parents to children places all, and one pass back sums the times.
#include "measure/flame.hpp"

#include "measure/admission.hpp"
#include "measure/pair_map.hpp"
#include "measure/part.hpp"

#include <algorithm>

namespace ptlens::measure {

namespace {

using stacks::no_call;

constexpr std::uint32_t no_node = no_call;

std::uint64_t subtract(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}

// The part of each call's time of one kind that is in none of its children, ns. `total`: of a call.
template <class Total>
std::vector<std::uint64_t> own_part(const stacks::CallTable& calls, const Total& total) {
  std::vector<std::uint64_t> own(calls.size());
  for (std::size_t call = 0; call < calls.size(); ++call) {
    own[call] = total(call);
    if (const std::uint32_t parent = calls.parent[call]; parent != no_call) {
      own[parent] = subtract(own[parent], own[call]);
    }
  }
  return own;
}

// 1 for the calls whose time is asked for: those that the selection admits and all below them.
std::vector<std::uint8_t> counted_calls(const Measurement& measurement,
                                        const stacks::CallTable& calls,
                                        std::optional<std::uint32_t> function,
                                        const Selection& selection) {
  const Admission admission(measurement, calls, selection);
  std::vector<std::uint8_t> counted(calls.size());
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const std::uint32_t parent = calls.parent[call];
    const bool below = parent != no_call && counted[parent] != 0;
    counted[call] = static_cast<std::uint8_t>(
        below || ((!function || calls.function[call] == *function) && admission.admits(call)));
  }
  return counted;
}

class Builder {
public:
  Builder() { add(0, no_call); }

  std::uint32_t child(std::uint32_t parent, std::uint32_t function) {
    const std::uint32_t node = edges_.number(parent, function) + 1;
    if (node == tree_.size()) {
      add(parent, function);
    }
    return node;
  }

  void count(std::uint32_t node, std::uint64_t self) {
    ++tree_.calls[node];
    tree_.self[node] += self;
  }

  // Sums inclusive time, then leaves out nodes without calls at or below them and nodes that are
  // too small.
  FlameTree finish(double smallest) {
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
  void add(std::uint32_t parent, std::uint32_t function) {
    tree_.parent.push_back(parent);
    tree_.function.push_back(function);
    tree_.inclusive.push_back(0);
    tree_.self.push_back(0);
    tree_.calls.push_back(0);
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
};

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
  const bool everything = !function && admits_all(selection);
  Needs needs(measurement);
  if (function) {
    needs.everything_below(*function);
    needs.way_up(*function, selection);
  } else {
    needs.everything();
  }
  const Part part = needs.gather();
  const stacks::CallTable& calls = part.calls();
  const std::vector<std::uint8_t> counted =
      everything ? std::vector<std::uint8_t>()
                 : counted_calls(measurement, calls, function, selection);
  const std::vector<std::uint64_t> own_off =
      time == FlameTime::wall
          ? std::vector<std::uint64_t>()
          : own_part(calls, [&](std::size_t call) { return calls.off_cpu(call); });
  const std::vector<std::uint64_t> own_outside =
      time == FlameTime::off_cpu
          ? std::vector<std::uint64_t>()
          : own_part(calls, [&](std::size_t call) { return calls.outside[call]; });

  Builder builder;
  std::vector<std::uint32_t> node(calls.size(), no_node);
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const bool counts = everything || counted[call] != 0;
    if (function && !counts) {
      continue;
    }
    const std::uint32_t parent = calls.parent[call];
    const std::uint32_t above = parent == no_call || node[parent] == no_node ? 0 : node[parent];
    node[call] = builder.child(above, calls.function[call]);
    if (!counts) {
      continue;
    }
    std::uint64_t self = calls.self(call);
    std::uint64_t outside = 0;
    if (time == FlameTime::off_cpu) {
      self = std::min(self, own_off[call]);
    } else {
      outside = std::min(self, own_outside[call]);
      if (time == FlameTime::on_cpu) {
        self = subtract(self, own_off[call]);
        outside = std::min(self, subtract(outside, own_off[call]));
      }
    }
    builder.count(node[call], self - outside);
    if (outside != 0) {
      builder.count(builder.child(node[call], outside_user_code), outside);
    }
  }
  return builder.finish(smallest);
}

} // namespace ptlens::measure
