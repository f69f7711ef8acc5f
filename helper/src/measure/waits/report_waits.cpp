// Nested activations of the function see the same waits: each part of a wait counts once, in the
// outermost one.
#include "measure/waits/report_waits.hpp"

#include "measure/places/innermost_calls.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/waits/wait_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ptlens::measure {
namespace {

using waits::Wait;

// Returns the waits in the selected calls of the function.
std::vector<WaitPart> parts_in_calls(const Measurement& measurement, const waits::Waits& waits,
                                     stacks::FunctionId function, const Selection& selection,
                                     WaitReport& report) {
  std::vector<WaitPart> parts;
  Selection in_states = selection;
  in_states.states = selection.states_or({stacks::CallState::complete});
  const SelectedCalls selected = read_selected(measurement, function, in_states);
  const stacks::CallTable& calls = selected.subset.calls();
  std::uint32_t thread = UINT32_MAX;
  std::uint64_t counted_until = 0;
  for (const std::uint32_t call : selected.calls) {
    ++report.calls;
    if (calls.thread[call] != thread) {
      thread = calls.thread[call];
      counted_until = 0;
    }
    const std::uint64_t begin = std::max(calls.start[call], counted_until);
    const std::uint64_t end = calls.start[call] + calls.wall(call);
    counted_until = std::max(counted_until, end);
    if (begin >= end || calls.off_cpu(call) == 0) {
      continue;
    }
    for (const Wait& wait : waits.within(measurement.threads[thread].tid, begin, end)) {
      parts.push_back({.wait = &wait,
                       .time = std::min(wait.end, end) - std::max(wait.begin, begin),
                       .call = call});
    }
  }
  return parts;
}

// Returns the waits of the selected threads in the selected time.
std::vector<WaitPart> parts_in_threads(const Measurement& measurement, const waits::Waits& waits,
                                       const Selection& selection) {
  std::vector<WaitPart> parts;
  const std::uint64_t origin = trace_start(measurement);
  for (const Wait& wait : waits.all) {
    const std::uint64_t at = wait.begin > origin ? wait.begin - origin : 0;
    if (selection.accepts_thread(wait.tid) && selection.time.contains(at)) {
      parts.push_back({.wait = &wait, .time = wait.duration()});
    }
  }
  return parts;
}

} // namespace

WaitReport report_waits(const Measurement& measurement, const waits::Waits& waits,
                        std::optional<stacks::FunctionId> function, const Selection& selection) {
  WaitReport report{.function = function, .recorded = waits.recorded};
  const std::vector<WaitPart> parts =
      function ? parts_in_calls(measurement, waits, *function, selection, report)
               : parts_in_threads(measurement, waits, selection);
  std::vector<ThreadTime> begins;
  for (const WaitPart& part : parts) {
    begins.push_back({.tid = part.wait->tid, .time_ns = part.wait->begin});
  }
  CallsNeeded needed(measurement);
  if (function) {
    needed.add_calls_below(*function);
  } else if (!waits.recorded) {
    needed.add_all_calls();
  }
  const InnermostCalls innermost(measurement, needed.edges(), std::move(begins));
  WaitRows rows(measurement, waits);
  rows.know_calls(innermost);
  for (const WaitPart& part : parts) {
    rows.add(part);
  }
  rows.finish(report);
  return report;
}

} // namespace ptlens::measure
