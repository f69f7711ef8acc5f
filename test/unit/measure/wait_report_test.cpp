// Waits of calls that are written by hand, with figures that were computed by hand.
#include "measure/explain/explain.hpp"
#include "measure/explain/wait_causes.hpp"
#include "measure/recordings.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/waits/report_waits.hpp"
#include "waits/waits.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace ptlens::measure {
namespace {

using test::add_call;
using test::add_function;
using waits::Reason;
using waits::Wait;
using waits::Waker;

// `work` calls `pthread_mutex_lock` from line 20. A second thread calls pthread_mutex_unlock from
// `refill`, line 40.
class WaitReports : public testing::Test {
protected:
  void SetUp() override {
    m_.threads.push_back({.pid = 1, .tid = 2, .comm = "filler", .last_ns = 1'000'000'000});
    m_.recording.off_cpu_known = true;
    work_ = add_function(m_, "work()");
    refill_ = add_function(m_, "refill()");
    lock_ = add_function(m_, "pthread_mutex_lock", "/lib/libc.so.6");
    unlock_ = add_function(m_, "pthread_mutex_unlock", "/lib/libc.so.6");
    m_.sites.push_back({.function = work_, .address = 0x10, .file = "work.cpp", .line = 20});
    m_.sites.push_back({.function = refill_, .address = 0x20, .file = "work.cpp", .line = 40});
    waits_.recorded = true;
    waits_.thread_names = {{1, "main"}, {2, "filler"}};
    waits_.functions.push_back({.name = "work()", .binary = "/bin/app", .file = ""});
    waits_.functions.push_back(
        {.name = "pthread_mutex_lock", .binary = "/lib/libc.so.6", .file = ""});
    waits_.functions.push_back({.name = "refill()", .binary = "/bin/app", .file = ""});
    waits_.sites.push_back({.function = stacks::FunctionId{0}, .file = "work.cpp", .line = 20});
    waits_.sites.push_back({.function = stacks::FunctionId{1}, .file = ""});
    waits_.sites.push_back({.function = stacks::FunctionId{2}, .file = "work.cpp", .line = 40});
    waits_.stacks.push_back({stacks::SiteId{1}, stacks::SiteId{0}}); // lock in work
    waits_.stacks.push_back({stacks::SiteId{2}});                    // refill
  }

  // A call of work over [start, start + latency) that waits in pthread_mutex_lock.
  void work(std::uint64_t start, std::uint64_t latency, std::uint64_t blocked = 0) {
    const auto call =
        add_call(m_, {.function = work_, .start = start, .latency = latency, .blocked = blocked});
    if (blocked != 0) {
      add_call(m_, {.function = lock_,
                    .parent = call,
                    .start = start + 10,
                    .latency = blocked + 20,
                    .blocked = blocked,
                    .site = stacks::SiteId{0}});
    }
  }
  void wait(std::uint64_t begin, std::uint64_t end, Reason reason = Reason::lock) {
    Wait wait{.tid = 1, .begin = begin, .end = end, .reason = reason};
    if (waits_.recorded) {
      wait.stack = waits::StackId{0};
      wait.waker = {
          .kind = Waker::Kind::thread, .tid = 2, .time_ns = end, .stack = waits::StackId{1}};
    }
    waits_.all.push_back(wait);
  }
  WaitReport report(const Selection& selection = {}) {
    return report_waits(Measurement(m_), waits_, work_, selection);
  }

  test::Recording m_ = test::empty_recording(1'000'000'000);
  waits::Waits waits_;
  stacks::FunctionId work_{};
  stacks::FunctionId refill_{};
  stacks::FunctionId lock_{};
  stacks::FunctionId unlock_{};
};

// Ten waits of 1,000 to 10,000 ns: by the nearest rank p50 is 5,000 and p99 10,000.
TEST_F(WaitReports, GroupByReasonPlaceAndWaker) {
  for (std::uint64_t number = 1; number <= 10; ++number) {
    work(number * 100'000, 1'000 * number + 100, 1'000 * number);
    wait(number * 100'000 + 20, number * 100'000 + 20 + 1'000 * number);
  }
  work(2'000'000, 50);
  const WaitReport waited = report();
  EXPECT_EQ(waited.calls, 11U);
  EXPECT_EQ(waited.totals.calls, 10U);
  ASSERT_EQ(waited.rows.size(), 1U);
  const WaitRow& row = waited.rows[0];
  EXPECT_EQ(row.reason, Reason::lock);
  EXPECT_EQ(row.lock, waits::LockKind::mutex);
  EXPECT_EQ(row.place.function, "work()");
  EXPECT_EQ(row.place.line, 20U);
  EXPECT_EQ(row.called, "pthread_mutex_lock");
  EXPECT_EQ(row.totals.intervals, 10U);
  EXPECT_EQ(row.totals.total, 55'000U);
  EXPECT_EQ(row.totals.p50, 5'000U);
  EXPECT_EQ(row.totals.p99, 10'000U);
  EXPECT_EQ(row.totals.max, 10'000U);
  ASSERT_EQ(row.wakers.size(), 1U);
  EXPECT_EQ(row.wakers[0].thread, "filler");
  EXPECT_EQ(row.wakers[0].place.function, "refill()");
  EXPECT_EQ(row.wakers[0].place.line, 40U);
  EXPECT_EQ(row.wakers[0].total, 55'000U);
  EXPECT_FALSE(row.wakers[0].likely);
}

// The wait lasts from 500 to 2,500 ns; the call is 1,000 to 2,000 ns.
TEST_F(WaitReports, CountAWaitAsFarAsItIsInTheCall) {
  work(1'000, 1'000, 900);
  wait(500, 2'500);
  EXPECT_EQ(report().totals.total, 1'000U);
}

TEST_F(WaitReports, CountAWaitInNestedActivationsOnce) {
  const auto outer =
      add_call(m_, {.function = work_, .start = 1'000, .latency = 9'000, .blocked = 3'000});
  add_call(
      m_, {.function = work_, .parent = outer, .start = 2'000, .latency = 5'000, .blocked = 3'000});
  wait(3'000, 6'000);
  const WaitReport waited = report();
  EXPECT_EQ(waited.totals.intervals, 1U);
  EXPECT_EQ(waited.totals.total, 3'000U);
}

TEST_F(WaitReports, NameTheProcessOfAWakerOutside) {
  work(100'000, 1'100, 1'000);
  wait(100'020, 101'020);
  waits_.all[0].waker = {.kind = Waker::Kind::thread, .tid = 34, .other_pid = 33};
  waits_.thread_names[33] = "database";
  waits_.thread_names[34] = "connection";
  const WaitReport waited = report();
  const WakerRow& waker = waited.rows.at(0).wakers.at(0);
  EXPECT_EQ(waker.process, "database");
  EXPECT_EQ(waker.thread, "connection");
  EXPECT_EQ(waker.pid, 33);
  EXPECT_EQ(waker.processes, 1U);
}

// Processes 33, 44 and 33 again, of one name, end three waits of 1,000 ns.
TEST_F(WaitReports, WakersOutsideOfOneNameAreOneRow) {
  work(100'000, 7'100, 7'000);
  for (const std::int32_t pid : {33, 44, 33}) {
    const std::uint64_t begin = 100'020 + 2'000 * waits_.all.size();
    wait(begin, begin + 1'000);
    waits_.all.back().waker = {.kind = Waker::Kind::thread, .tid = pid, .other_pid = pid};
    waits_.thread_names[pid] = "client";
  }
  const WaitReport waited = report();
  ASSERT_EQ(waited.rows.at(0).wakers.size(), 1U);
  const WakerRow& waker = waited.rows[0].wakers[0];
  EXPECT_EQ(waker.processes, 2U);
  EXPECT_EQ(waker.pid, 33);
  EXPECT_EQ(waker.intervals, 3U);
  EXPECT_EQ(waker.total, 3'000U);
}

TEST_F(WaitReports, OnlySelectedCallsCount) {
  work(100'000, 1'100, 1'000);
  wait(100'020, 101'020);
  work(200'000, 5'100, 5'000);
  wait(200'020, 205'020);
  Selection slow;
  slow.latency = Interval{.low = 2'000};
  const WaitReport waited = report(slow);
  EXPECT_EQ(waited.calls, 1U);
  EXPECT_EQ(waited.totals.total, 5'000U);
}

// No tracepoints: the innermost call names the reason, and the release that began last before the
// thread ran again names the thread.
TEST_F(WaitReports, InferReasonsAndHoldersFromCalls) {
  waits_.recorded = false;
  work(100'000, 6'000, 5'000);
  const auto refill =
      add_call(m_, {.function = refill_, .start = 99'000, .latency = 7'000, .thread = 1});
  for (const std::uint64_t start : {99'500U, 104'900U}) {
    add_call(m_, {.function = unlock_,
                  .parent = refill,
                  .start = start,
                  .latency = 50,
                  .site = stacks::SiteId{1},
                  .thread = 1});
  }
  wait(100'020, 105'020, Reason::unknown);
  const WaitReport waited = report();
  ASSERT_EQ(waited.rows.size(), 1U);
  const WaitRow& row = waited.rows[0];
  EXPECT_EQ(row.reason, Reason::lock);
  EXPECT_TRUE(row.likely);
  EXPECT_EQ(row.place.function, "work()");
  EXPECT_EQ(row.place.line, 20U);
  ASSERT_EQ(row.wakers.size(), 1U);
  EXPECT_TRUE(row.wakers[0].likely);
  EXPECT_EQ(row.wakers[0].thread, "filler");
  EXPECT_EQ(row.wakers[0].place.function, "refill()");
  EXPECT_EQ(row.wakers[0].called, "pthread_mutex_unlock");
}

// Without tracepoints, calls are selected by the same reason as the report names: the second call
// waits in pthread_mutex_lock, the third in itself.
TEST_F(WaitReports, SelectCallsByTheReasonThatTheReportNames) {
  waits_.recorded = false;
  work(100'000, 6'000);
  work(200'000, 6'000, 5'000);
  add_call(m_, {.function = work_, .start = 300'000, .latency = 6'000, .blocked = 4'000});
  wait(200'020, 205'020, Reason::unknown);
  wait(300'100, 304'100, Reason::unknown);
  Measurement measurement(m_);
  measurement.waits =
      std::make_shared<LazyWaits>([this] { return std::make_shared<const waits::Waits>(waits_); });
  const auto starts = [&](AskedReason reason, std::uint64_t least) {
    Selection selection;
    selection.waited = {{.reason = reason, .least = least}};
    EXPECT_TRUE(check_selection(measurement, selection));
    const SelectedCalls found = read_selected(measurement, work_, selection);
    std::vector<std::uint64_t> times;
    for (const std::uint32_t call : found.calls) {
      times.push_back(found.subset.calls().start[call]);
    }
    return times;
  };
  EXPECT_EQ(starts(Reason::lock, 1), std::vector<std::uint64_t>{200'000});
  EXPECT_EQ(starts(Reason::lock, 5'001), std::vector<std::uint64_t>{});
  EXPECT_EQ(starts(Reason::unknown, 4'000), std::vector<std::uint64_t>{300'000});
  EXPECT_EQ(starts(Reason::disk, 1), std::vector<std::uint64_t>{});
}

TEST_F(WaitReports, SelectionsByReasonNeedWaits) {
  work(100'000, 1'000);
  Selection selection;
  selection.waited = {{.reason = Reason::lock}};
  const auto checked = check_selection(Measurement(m_), selection);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("does not say what its threads waited for"),
            std::string::npos);
}

TEST_F(WaitReports, AReleaseBeforeTheWaitEndedNothing) {
  waits_.recorded = false;
  work(100'000, 6'000, 5'000);
  add_call(m_, {.function = unlock_, .start = 99'500, .latency = 50, .thread = 1});
  wait(100'020, 105'020, Reason::unknown);
  EXPECT_TRUE(report().rows.at(0).wakers.empty());
}

// 100 calls of 1 us, one of 50 us that waits for the lock.
TEST_F(WaitReports, GiveExplanationsTheLockAndItsHolder) {
  for (std::uint64_t number = 1; number <= 100; ++number) {
    work(number * 100'000, 1'000);
  }
  work(20'000'000, 50'000, 49'000);
  wait(20'000'020, 20'049'020);
  const Measurement measurement(m_);
  auto explanation = explain(measurement, work_, {}, {});
  ASSERT_TRUE(explanation.has_value());
  EXPECT_TRUE(ends_in_wait(*explanation));
  name_waits(measurement, waits_, {}, *explanation);
  const auto& wait = explanation->components.at(0).wait;
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->reason, Reason::lock);
  EXPECT_EQ(wait->place.line, 20U);
  EXPECT_EQ(wait->totals.total, 49'000U);
  EXPECT_EQ(wait->wakers.at(0).place.function, "refill()");
}

// 100 unwound calls of 1 us, one of 50 us that waits for the lock, and a complete call that waits
// for longer.
TEST_F(WaitReports, ExplainTheWaitsOfUnwoundCallsToo) {
  for (std::uint64_t number = 1; number <= 100; ++number) {
    work(number * 100'000, 1'000);
  }
  work(20'000'000, 50'000, 49'000);
  wait(20'000'020, 20'049'020);
  for (std::uint32_t call = 0; call < m_.calls.size(); ++call) {
    m_.calls.state[call] = stacks::CallState::unwound;
  }
  work(30'000'000, 50'000, 49'000);
  wait(30'000'020, 30'049'020);
  const Measurement measurement(m_);
  Selection unwound;
  unwound.states = {stacks::CallState::unwound};
  auto explanation = explain(measurement, work_, unwound, {});
  ASSERT_TRUE(explanation.has_value());
  name_waits(measurement, waits_, unwound, *explanation);
  const auto& wait = explanation->components.at(0).wait;
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->reason, Reason::lock);
  EXPECT_EQ(wait->totals.total, 49'000U);
}

} // namespace
} // namespace ptlens::measure
