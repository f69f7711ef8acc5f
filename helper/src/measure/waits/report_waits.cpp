// Nested activations of the function see the same waits: each part of a wait counts once, in the
// outermost one.
#include "measure/waits/report_waits.hpp"

#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/waits/wait_rows.hpp"

#include <algorithm>

namespace ptlens::measure {
namespace {

using waits::Wait;

void add_calls_of(const Measurement& measurement, const waits::Waits& waits,
                  stacks::FunctionId function, const Selection& selection, WaitRows& rows,
                  WaitReport& report) {
  const SelectedCalls selected = read_selected(measurement, function, selection);
  const stacks::CallTable& calls = selected.subset.calls();
  std::uint32_t thread = UINT32_MAX;
  std::uint64_t counted_until = 0;
  for (const std::uint32_t call : selected.calls) {
    if (calls.state[call] != stacks::CallState::complete) {
      continue;
    }
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
      rows.add({.wait = &wait,
                .time = std::min(wait.end, end) - std::max(wait.begin, begin),
                .call = call});
    }
  }
}

} // namespace

WaitReport report_waits(const Measurement& measurement, const waits::Waits& waits,
                        std::optional<stacks::FunctionId> function, const Selection& selection) {
  WaitReport report{.function = function, .recorded = waits.recorded};
  WaitRows rows(measurement, waits);
  CallsNeeded needed(measurement);
  if (function) {
    needed.add_calls_below(*function);
  } else if (!waits.recorded) {
    needed.add_all_calls();
  }
  const CallSubset calls = needed.read();
  rows.know_calls(calls.calls());
  if (function) {
    add_calls_of(measurement, waits, *function, selection, rows, report);
  } else {
    const std::uint64_t origin = trace_start(measurement);
    for (const Wait& wait : waits.all) {
      const std::uint64_t at = wait.begin > origin ? wait.begin - origin : 0;
      if (selection.accepts_thread(wait.tid) && selection.time.contains(at)) {
        rows.add({.wait = &wait, .time = wait.duration()});
      }
    }
  }
  rows.finish(report);
  return report;
}

} // namespace ptlens::measure
