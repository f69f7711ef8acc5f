#include "measure/waits/wait_rows.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace ptlens::measure {

using waits::Wait;
using waits::Waker;

void TotalsBuilder::add(const WaitPart& part) {
  times_.push_back(part.time);
  calls_.insert(part.call);
}

WaitTotals TotalsBuilder::finish() {
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

void WaitRows::add(const WaitPart& part) {
  const Wait& wait = *part.wait;
  const Placed placed = place_of(measurement_, waits_, wait, innermost_);
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

void WaitRows::finish(WaitReport& report) {
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
      made.row.processes = made.processes.size();
      row.wakers.push_back(std::move(made.row));
    }
    std::ranges::stable_sort(row.wakers, std::greater(), &WakerRow::total);
    report.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(report.rows, std::greater(),
                           [](const WaitRow& row) { return row.totals.total; });
}

void WaitRows::add_waker(Group& group, const Placed& placed, const WaitPart& part) {
  WakerRow row = waker_of(*part.wait, placed);
  const bool is_known = row.kind != Waker::Kind::unknown || row.tid >= 0;
  if (!is_known) {
    return;
  }
  Wakers& made = group.wakers
                     .try_emplace({row.kind, row.interrupt, row.likely, row.process, row.thread,
                                   row.place, row.called},
                                  Wakers{.row = row, .processes = {}})
                     .first->second;
  ++made.row.intervals;
  made.row.total += part.time;
  made.row.tid = row.tid;
  made.row.pid = row.pid;
  if (row.pid >= 0) {
    made.processes.insert(row.pid);
  }
}

// For a preempted thread, the thread that got the CPU.
WakerRow WaitRows::waker_of(const Wait& wait, const Placed& placed) {
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
    if (wait.waker.other_pid > 0) {
      row.pid = wait.waker.other_pid;
      row.process = waits_.thread_name(row.pid);
    }
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

} // namespace ptlens::measure
