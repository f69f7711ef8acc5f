// The own waiting of a function consists of the waits whose innermost measured call is one of its
// calls.
#include "measure/explain/wait_causes.hpp"

#include "measure/explain/slow_and_typical.hpp"
#include "measure/places/wait_places.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/waits/wait_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ptlens::measure {
namespace {

using Key = std::pair<stacks::FunctionId, bool>; // whose own time, whether preempted

// Returns the wait that ends the component's path.
std::optional<Key> wait_of(const Component& component) {
  const Part& last = component.path.empty() ? component.part : component.path.back();
  if (last.key.kind != PartKind::blocked && last.key.kind != PartKind::preempted) {
    return std::nullopt;
  }
  return Key{last.key.function, last.key.kind == PartKind::preempted};
}

std::optional<WaitRow> main_row(WaitRows& rows) {
  WaitReport report;
  rows.finish(report);
  if (report.rows.empty() || 2 * report.rows.front().totals.total <= report.totals.total) {
    return std::nullopt;
  }
  return std::move(report.rows.front());
}

} // namespace

bool ends_in_wait(const Explanation& explanation) {
  return std::ranges::any_of(explanation.components, [](const Component& component) {
    return wait_of(component).has_value();
  });
}

void name_waits(const Measurement& measurement, const waits::Waits& waits,
                const Selection& selection, Explanation& explanation) {
  std::map<Key, WaitRows> rows;
  for (const Component& component : explanation.components) {
    if (const auto key = wait_of(component)) {
      rows.try_emplace(*key, measurement, waits);
    }
  }
  if (rows.empty()) {
    return;
  }
  CallsNeeded needed(measurement);
  needed.add_calls_below(explanation.function);
  const CallSubset below = needed.read();
  const InnermostCalls innermost(measurement, below.calls());
  for (auto& [key, made] : rows) {
    made.know_calls(below.calls());
  }
  const SelectedCalls selected = read_selected(measurement, explanation.function, selection);
  const stacks::CallTable& calls = selected.subset.calls();
  const stacks::CallStates states = compared_states(selection);
  for (const std::uint32_t call : selected.calls) {
    const bool is_slow = states.has(calls.state[call]) &&
                         calls.latency[call] >= explanation.slow.low &&
                         calls.latency[call] <= explanation.slow.high;
    if (!is_slow) {
      continue;
    }
    const std::int32_t tid = measurement.threads[calls.thread[call]].tid;
    const std::uint64_t begin = calls.start[call];
    const std::uint64_t end = begin + calls.wall(call);
    for (const waits::Wait& wait : waits.within(tid, begin, end)) {
      const std::uint32_t row = innermost.at(tid, std::max(wait.begin, begin));
      if (row == InnermostCalls::none) {
        continue;
      }
      const auto made =
          rows.find({below.calls().function[row], wait.reason == waits::Reason::preempted});
      if (made != rows.end()) {
        made->second.add({.wait = &wait,
                          .time = std::min(wait.end, end) - std::max(wait.begin, begin),
                          .call = call});
      }
    }
  }
  std::map<Key, std::optional<WaitRow>> found;
  for (auto& [key, made] : rows) {
    found.emplace(key, main_row(made));
  }
  for (Component& component : explanation.components) {
    if (const auto key = wait_of(component)) {
      component.wait = found[*key];
    }
  }
}

} // namespace ptlens::measure
