// Choosing calls: each bound is one comparison a call; the ancestor is carried down from parents to
// children in one pass, for parents come first in the table.
#include "measure/selection/selection.hpp"

#include "measure/names/names.hpp"
#include "measure/selection/call_filter.hpp"
#include "measure/selection/call_subset.hpp"

#include <algorithm>

namespace ptlens::measure {

namespace {} // namespace

bool admits_all(const Selection& selection) {
  return !selection.time && !selection.latency && !selection.tid && selection.ancestor.empty();
}

CallFilter::CallFilter(const Measurement& measurement, const stacks::CallTable& calls,
                       const Selection& selection)
    : measurement_(measurement), calls_(calls), selection_(selection),
      origin_(trace_start(measurement)) {
  if (!selection.ancestor.empty()) {
    find_ancestors();
  }
}

void CallFilter::find_ancestors() {
  const stacks::CallTable& calls = calls_;
  std::vector<std::uint8_t> named(measurement_.functions.size(), 0);
  for (const std::uint32_t function :
       functions_named(measurement_, parse_selector(selection_.ancestor), {})) {
    named[function] = 1;
  }
  below_.assign(calls.size(), 0);
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const std::uint32_t parent = calls.parent[call];
    if (parent == stacks::no_call) {
      continue;
    }
    const bool is_ancestor = named[calls.function[parent]] != 0 &&
                             selection_.ancestor_latency.contains(calls.latency[parent]);
    below_[call] = static_cast<std::uint8_t>(is_ancestor || below_[parent] != 0);
  }
}

bool CallFilter::admits(std::size_t call) const {
  const stacks::CallTable& calls = calls_;
  if (selection_.tid && measurement_.threads[calls.thread[call]].tid != *selection_.tid) {
    return false;
  }
  if (selection_.latency && !selection_.latency->contains(calls.latency[call])) {
    return false;
  }
  if (selection_.time) {
    const std::uint64_t start = calls.start[call];
    if (!selection_.time->contains(start > origin_ ? start - origin_ : 0)) {
      return false;
    }
  }
  return below_.empty() || below_[call] != 0;
}

std::uint64_t trace_start(const Measurement& measurement) {
  std::uint64_t start = UINT64_MAX;
  for (const stacks::ThreadInfo& thread : measurement.threads) {
    if (thread.last_ns != 0) { // 0: nothing of it was traced
      start = std::min(start, thread.first_ns);
    }
  }
  if (start == UINT64_MAX) {
    for (const std::uint64_t call : measurement.calls.start) {
      start = std::min(start, call);
    }
    if (measurement.store != nullptr) {
      start = std::min(start, measurement.store->first_start());
    }
  }
  return start == UINT64_MAX ? 0 : start;
}

std::vector<std::uint32_t> select_calls(const Measurement& measurement,
                                        const stacks::CallTable& calls, std::uint32_t function,
                                        const Selection& selection) {
  const CallFilter admission(measurement, calls, selection);
  std::vector<std::uint32_t> selected;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    if (calls.function[call] == function && admission.admits(call)) {
      selected.push_back(static_cast<std::uint32_t>(call));
    }
  }
  return selected;
}

Selected select_calls(const Measurement& measurement, std::uint32_t function,
                      const Selection& selection) {
  CallsNeeded needs(measurement);
  needs.calls_of(function);
  needs.way_up(function, selection);
  CallSubset part = needs.gather();
  std::vector<std::uint32_t> calls = select_calls(measurement, part.calls(), function, selection);
  return {.part = std::move(part), .calls = std::move(calls)};
}

} // namespace ptlens::measure
