// Nested activations of the function see the same waits: each part of a wait counts once, in the
// outermost one.
#include "measure/waits/wait_report.hpp"

#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/waits/likely_wakers.hpp"
#include "measure/waits/wait_places.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ptlens::measure {
namespace {

using waits::Wait;
using waits::Waker;

// The part of a wait that counts.
struct Part {
  const Wait* wait = nullptr;
  std::uint64_t time = 0;
  std::uint32_t call = 0; // number of the call that contains it
};

class TotalsBuilder {
public:
  void add(const Part& part) {
    times_.push_back(part.time);
    calls_.insert(part.call);
  }
  [[nodiscard]] WaitTotals finish() {
    WaitTotals totals;
    std::ranges::sort(times_);
    totals.intervals = times_.size();
    totals.calls = calls_.size();
    for (const std::uint64_t time : times_) {
      totals.total += time;
    }
    if (!times_.empty()) {
      const auto rank = [&](double share) {
        const double at = std::ceil(share * static_cast<double>(times_.size()));
        return times_[static_cast<std::size_t>(std::max(at, 1.0)) - 1];
      };
      totals.p50 = rank(0.5);
      totals.p99 = rank(0.99);
      totals.max = times_.back();
    }
    return totals;
  }

private:
  std::vector<std::uint64_t> times_;
  std::set<std::uint32_t> calls_;
};

using RowKey =
    std::tuple<waits::Reason, bool, waits::LockKind, SourcePlace, std::string, std::string>;
using WakerKey =
    std::tuple<Waker::Kind, waits::Interrupt, bool, std::string, SourcePlace, std::string>;

class Builder {
public:
  Builder(const Measurement& measurement, const waits::Waits& waits)
      : measurement_(measurement), waits_(waits), likely_(measurement) {}

  void know_calls(const stacks::CallTable& calls) {
    calls_ = &calls;
    innermost_.emplace(measurement_, calls);
  }

  void add(const Part& part) {
    const Wait& wait = *part.wait;
    const Placed placed =
        place_of(measurement_, waits_, wait, innermost_ ? &*innermost_ : nullptr, calls_);
    const std::string kernel = waits_.kernel_functions.has(wait.kernel)
                                   ? waits_.kernel_functions[wait.kernel]
                                   : std::string();
    Group& group =
        groups_[{placed.reason, placed.likely, placed.lock, placed.place, placed.called, kernel}];
    group.totals.add(part);
    reasons_[placed.reason].add(part);
    all_.add(part);
    add_waker(group, placed, part);
  }

  void finish(WaitReport& report) {
    report.totals = all_.finish();
    for (auto& [reason, totals] : reasons_) {
      report.reasons.emplace_back(reason, totals.finish());
    }
    std::ranges::stable_sort(report.reasons, std::greater(),
                             [](const auto& each) { return each.second.total; });
    for (auto& [key, group] : groups_) {
      WaitRow row{.reason = std::get<0>(key),
                  .likely = std::get<1>(key),
                  .lock = std::get<2>(key),
                  .place = std::get<3>(key),
                  .called = std::get<4>(key),
                  .kernel = std::get<5>(key),
                  .totals = group.totals.finish(),
                  .wakers = {}};
      for (auto& [waker, made] : group.wakers) {
        row.wakers.push_back(std::move(made));
      }
      std::ranges::stable_sort(row.wakers, std::greater(), &WakerRow::total);
      report.rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(report.rows, std::greater(),
                             [](const WaitRow& row) { return row.totals.total; });
  }

private:
  struct Group {
    TotalsBuilder totals;
    std::map<WakerKey, WakerRow> wakers;
  };

  void add_waker(Group& group, const Placed& placed, const Part& part) {
    WakerRow row = waker_of(*part.wait, placed);
    const bool is_known = row.kind != Waker::Kind::unknown || row.tid >= 0;
    if (!is_known) {
      return;
    }
    WakerRow& made =
        group.wakers
            .try_emplace({row.kind, row.interrupt, row.likely, row.thread, row.place, row.called},
                         row)
            .first->second;
    ++made.intervals;
    made.total += part.time;
    made.tid = row.tid;
  }

  // For a preempted thread, the thread that got the CPU.
  WakerRow waker_of(const Wait& wait, const Placed& placed) {
    WakerRow row{.kind = wait.waker.kind, .interrupt = wait.waker.interrupt, .place = {}};
    if (wait.reason == waits::Reason::preempted && wait.next_tid > 0) {
      row.kind = Waker::Kind::thread;
      row.tid = wait.next_tid;
      row.thread = waits_.thread_name(wait.next_tid);
      return row;
    }
    if (row.kind == Waker::Kind::thread) {
      row.tid = wait.waker.tid;
      row.thread = waits_.thread_name(wait.waker.tid);
      const waits::WaitPlace place = waits_.place(wait.waker.stack);
      row.place = place_of(waits_, place.site);
      row.called = place.called;
    } else if (row.kind == Waker::Kind::unknown && placed.reason == waits::Reason::lock) {
      if (const auto found = likely_.find(wait)) {
        row.kind = Waker::Kind::thread;
        row.likely = true;
        row.tid = found->tid;
        row.thread = waits_.thread_name(found->tid);
        row.place = found->place;
        row.called = found->called;
      }
    }
    return row;
  }

  const Measurement& measurement_;
  const waits::Waits& waits_;
  LikelyWakers likely_;
  const stacks::CallTable* calls_ = nullptr;
  std::optional<InnermostCalls> innermost_;
  std::map<RowKey, Group> groups_;
  std::map<waits::Reason, TotalsBuilder> reasons_;
  TotalsBuilder all_;
};

void add_calls_of(const Measurement& measurement, const waits::Waits& waits,
                  stacks::FunctionId function, const Selection& selection, Builder& builder,
                  WaitReport& report) {
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
      builder.add({.wait = &wait,
                   .time = std::min(wait.end, end) - std::max(wait.begin, begin),
                   .call = call});
    }
  }
}

} // namespace

WaitReport report_waits(const Measurement& measurement, const waits::Waits& waits,
                        std::optional<stacks::FunctionId> function, const Selection& selection) {
  WaitReport report{.function = function, .recorded = waits.recorded};
  Builder builder(measurement, waits);
  CallsNeeded needed(measurement);
  if (function) {
    needed.add_calls_below(*function);
  } else if (!waits.recorded) {
    needed.add_all_calls();
  }
  const CallSubset calls = needed.read();
  builder.know_calls(calls.calls());
  if (function) {
    add_calls_of(measurement, waits, *function, selection, builder, report);
  } else {
    const std::uint64_t origin = trace_start(measurement);
    for (const Wait& wait : waits.all) {
      const std::uint64_t at = wait.begin > origin ? wait.begin - origin : 0;
      if (selection.accepts_thread(wait.tid) && selection.time.contains(at)) {
        builder.add({.wait = &wait, .time = wait.duration()});
      }
    }
  }
  builder.finish(report);
  return report;
}

} // namespace ptlens::measure
