// Loads and plans whose values are calculated by hand.
#include "record/probes/cost/call_counts.hpp"
#include "record/probes/cost/load_meter.hpp"
#include "record/probes/cost/own_time.hpp"
#include "record/probes/cost/probe_load.hpp"
#include "record/probes/cost/run_time.hpp"
#include "record/probes/plan/budget_plan.hpp"
#include "record/probes/session/burst_schedule.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <unistd.h>

namespace ptlens::record::test {
namespace {

using Chosen = std::vector<bool>;

TEST(BudgetPlan, TakesTheFunctionAndThenTheCheapestCallees) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 10'000, .cost_ns = 2'000}, // 2 %
      {.name = "lock", .calls_a_s = 500'000, .cost_ns = 2'000},             // 100 %
      {.name = "rare", .calls_a_s = 5'000, .cost_ns = 2'000},               // 1 %
      {.name = "rarer", .calls_a_s = 100, .cost_ns = 100'000},              // 1 %
      {.name = "too_much", .calls_a_s = 7'500, .cost_ns = 2'000}};          // 1.5 %
  const BudgetPlan plan = plan_within(candidates, 0.05, 1);
  EXPECT_EQ(plan.chosen, (Chosen{true, false, true, true, false}));
  EXPECT_NEAR(plan.cost, 0.04, 1e-9);
  EXPECT_EQ(plan.duty, 1);
  // Twice as much is lost on two CPUs: half the share.
  EXPECT_EQ(plan_within(candidates, 0.05, 2).chosen, (Chosen{true, false, true, true, true}));
  EXPECT_EQ(plan_within(candidates, 1, 1).chosen, (Chosen{true, true, true, true, true}));
}

TEST(BudgetPlan, MeasuresInBurstsWhatBreaksTheBudgetAlone) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 100'000, .cost_ns = 2'000}, // 20 %
      {.name = "g", .calls_a_s = 10'000, .cost_ns = 2'000},                  // 2 %
      {.name = "h", .calls_a_s = 500, .cost_ns = 2'000}}; // 0.1 %: nothing beside the function
  const BudgetPlan plan = plan_within(candidates, 0.05, 1);
  EXPECT_EQ(plan.chosen, (Chosen{true, false, true}));
  EXPECT_NEAR(plan.cost, 0.201, 1e-9);
  EXPECT_NEAR(plan.duty, 0.05 * 1.201 / 0.201, 1e-9); // 1.201 s for the work of 1 s
}

TEST(BudgetPlan, CountsWhatElseIsRecorded) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 10'000, .cost_ns = 2'000}, // 2 %
      {.name = "g", .calls_a_s = 10'000, .cost_ns = 2'000}};
  EXPECT_EQ(plan_within(candidates, 0.05, 1, 0).chosen, (Chosen{true, true}));
  EXPECT_EQ(plan_within(candidates, 0.05, 1, 0.02).chosen, (Chosen{true, false}));
  EXPECT_NEAR(plan_within(candidates, 0.05, 1, 0.23).duty, 0.25, 1e-9); // 25 % more: a fifth
}

// 100 ms of CPU time in a recording of 5 s: 2 % of one CPU, 1 % of two.
TEST(ProbeBudget, IsWhatTheHelperLeaves) {
  const ProbeBudget all(0.05);
  EXPECT_TRUE(all.is_limited());
  EXPECT_NEAR(all.most(), 0.05, 1e-9);
  EXPECT_LT(all.planned(), all.most());
  const ProbeBudget rest(0.05, 0.02);
  EXPECT_NEAR(rest.most(), 0.03, 1e-9);
  EXPECT_NEAR(rest.planned() / rest.most(), all.planned() / all.most(), 1e-9);
  const ProbeBudget none(0.05, 0.1); // a short recording still measures something
  EXPECT_GT(none.planned(), 0);
  EXPECT_LE(none.planned(), none.most());
  EXPECT_LT(none.most(), 0.05);
  EXPECT_FALSE(ProbeBudget().is_limited());
  EXPECT_EQ(ProbeBudget(1, 0.3).planned(), 1);
}

TEST(OwnTime, IsAShareOfWhatTheProgramCanUse) {
  const OwnTime began;
  double used_ns = 0;
  const auto now_ns = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  for (const double first = now_ns(); used_ns < 50e6; used_ns = now_ns() - first) {
  }
  const double share = began.share_since(1, 1);
  EXPECT_GE(share, 0.04);
  EXPECT_NEAR(began.share_since(2, 2) / share, 0.25, 0.02);
  EXPECT_EQ(began.share_since(0, 1), 0); // until Stop
}

TEST(BudgetPlan, KeepsWhatTheUserAskedFor) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 1000, .cost_ns = 2'000},
      {.name = "lock", .forced = true, .calls_a_s = 50'000, .cost_ns = 2'000}}; // 10 %
  EXPECT_EQ(plan_within(candidates, 0.05, 1).chosen, (Chosen{true, true}));
}

RunTime run_time(double ns, const ThreadTimes& threads) {
  RunTime time;
  time.add(ns, {}, threads);
  return time;
}

TEST(BudgetPlan, ComparesWithThePartOfACpuThatTheProgramGets) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 10'000, .cost_ns = 2'000}, // 2 % of a CPU
      {.name = "g", .calls_a_s = 15'000, .cost_ns = 2'000}};                // 3 %
  EXPECT_EQ(plan_within(candidates, 0.05, 1).chosen, (Chosen{true, true}));
  const BudgetPlan half = plan_within(candidates, 0.05, 0.5); // 4 % and 6 % of half a CPU
  EXPECT_EQ(half.chosen, (Chosen{true, false}));
  EXPECT_NEAR(half.cost, 0.04, 1e-9);
  EXPECT_NEAR(plan_within(candidates, 0.05, 0.2).duty, 0.55, 1e-9); // 10 % more: an eleventh
}

TEST(ProbeLoad, IsThatOfTheMostLoadedThread) {
  ProbeLoad load;
  for (int hit = 0; hit < 5'000; ++hit) { // 50,000 hits of 1.5 us in a second
    load.add(1, 1'500);
  }
  load.add(2, 1'000);
  EXPECT_NEAR(load.share(run_time(1e8, {{1, {.ran_ns = 1e8}}})), 0.075, 1e-4);
  // The other threads do not help this one.
  EXPECT_NEAR(load.share(run_time(1e8, {{1, {.ran_ns = 1e8}}, {2, {.ran_ns = 1e8}}})), 0.075, 1e-4);
  EXPECT_NEAR(load.most(), 7.5e6, 1);
  EXPECT_NEAR(slowdown(0.2), 1.25, 1e-9);
  EXPECT_EQ(slowdown(0), 1);
  EXPECT_EQ(slowdown(0.97), 10); // at least
  EXPECT_EQ(slowdown(1), 10);
}

TEST(ProbeLoad, OfThreadsThatShareCpusIsTheirSum) {
  ProbeLoad load;
  ThreadTimes one;
  ThreadTimes two;
  for (std::int32_t tid = 1; tid <= 10; ++tid) {
    load.add(tid, 1e6);
    one[tid] = {.ran_ns = 1e7}; // asleep otherwise
    two[tid] = {.ran_ns = 2e7};
  }
  EXPECT_NEAR(load.share(run_time(1e8, one)), 0.1, 1e-9);  // ten times 1 % of one CPU
  EXPECT_NEAR(load.share(run_time(1e8, two)), 0.05, 1e-9); // of two
}

TEST(ProbeLoad, IsOfTheTimeThatOtherProgramsLeave) {
  ProbeLoad load;
  load.add(1, 1e7);
  const ThreadTime half = {.ran_ns = 5e7, .waited_ns = 5e7};
  EXPECT_NEAR(load.share(run_time(1e8, {{1, half}})), 0.2, 1e-9); // 10 ms of 50 ms
  // Half of the time on a CPU, asleep otherwise: the sleep ends when it did without probes.
  EXPECT_NEAR(load.share(run_time(1e8, {{1, {.ran_ns = 5e7}}})), 0.1, 1e-9);
  // Four busy threads on two CPUs: each of them gets 50 ms of 100 ms.
  load.add(2, 1e7);
  load.add(3, 1e7);
  load.add(4, 1e7);
  EXPECT_NEAR(load.share(run_time(1e8, {{1, half}, {2, half}, {3, half}, {4, half}})), 0.2, 1e-9);
  // Four threads that take turns, with half of one CPU for all: 40 ms of 50 ms.
  const ThreadTime turn = {.ran_ns = 1.25e7, .waited_ns = 1.25e7};
  EXPECT_NEAR(load.share(run_time(1e8, {{1, turn}, {2, turn}, {3, turn}, {4, turn}})), 0.8, 1e-9);
}

TEST(ProbeLoad, IsAllOfTheTimeAtMost) {
  ProbeLoad load;
  EXPECT_EQ(load.share(RunTime()), 0);
  load.add(1, 2e7);
  EXPECT_EQ(load.share(RunTime()), 1);
  EXPECT_EQ(load.share(run_time(1e8, {{1, {.ran_ns = 1e7, .waited_ns = 9e7}}})), 1);
  EXPECT_NEAR(load.share(run_time(1e8, {{2, {.ran_ns = 1e8}}})), 0.2, 1e-9); // of an unknown thread
}

TEST(RunTime, IsReadFromTheScheduler) {
  const auto time = parse_schedstat("578810 64787 2\n");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->ran_ns, 578'810);
  EXPECT_EQ(time->waited_ns, 64'787);
  EXPECT_FALSE(parse_schedstat(""));
  EXPECT_EQ(time->turns, 2);
  EXPECT_FALSE(parse_schedstat("1 2"));
  EXPECT_TRUE(run_times_of(-1).empty());
  const auto own = run_times_of(::getpid());
  ASSERT_TRUE(own.contains(::getpid()));
  RunTime passed;
  passed.add(
      1e6, {{1, {.ran_ns = 100, .waited_ns = 10, .turns = 3}}},
      {{1, {.ran_ns = 400'100, .waited_ns = 300'010, .turns = 5}}, {2, {.ran_ns = 7, .turns = 1}}});
  passed.add(1e6, {{1, {.ran_ns = 400'100, .waited_ns = 300'010}}},
             {{1, {.ran_ns = 500'100, .waited_ns = 300'010}}});
  EXPECT_EQ(passed.whole_ns(), 2e6);
  EXPECT_EQ(passed.turns(), 3);
  EXPECT_EQ(passed.of_thread(1), 1.7e6);
  EXPECT_EQ(passed.of_thread(2), 2e6);
  EXPECT_EQ(passed.of_thread(3), 2e6);
}

// 5 % of a recording of 2 s, which has ten bursts: 10 ms of hits in each period of 200 ms.
TEST(BurstSchedule, EndsABurstWhenItsHitsTookTheBudgetOfAPeriod) {
  BurstSchedule schedule(0.05, 2e9);
  schedule.begin_burst(1e9);
  ProbeLoad load;
  load.add(1, 9.9e6);
  EXPECT_FALSE(schedule.should_end(1.15e9, load));
  EXPECT_TRUE(schedule.should_end(1.18e9, load)); // nine tenths of the period
  load.add(1, 0.1e6);
  EXPECT_TRUE(schedule.should_end(1.011e9, load));
}

TEST(BurstSchedule, WaitsUntilTheProgramHadItsTime) {
  BurstSchedule schedule(0.05, 2e9);
  schedule.begin_burst(1e9);
  EXPECT_NEAR(schedule.pause_ns(1.02e9, 0.01), 180e6, 1); // the rest of the period
  EXPECT_EQ(schedule.pause_ns(1.2e9, 0.05), 0);
  // Half of the program's time: ten times as long as so far.
  EXPECT_NEAR(schedule.pause_ns(1.02e9, 0.5), 180e6, 1);
  EXPECT_NEAR(schedule.pause_ns(1.1e9, 0.5), 900e6, 1);
  EXPECT_NEAR(schedule.pause_ns(1.2e9, 0.0501), 5e6, 1); // not more often
}

TEST(LoadMeter, CountsHitsThatWereNotRecorded) {
  LoadMeter meter;
  meter.begin(-1, 0);
  meter.hit(7, 1e6);
  meter.scale(3); // 3 ms
  meter.read(1e8);
  EXPECT_NEAR(meter.share(), 0.03, 1e-9);
  meter.begin_window(1e8);
  EXPECT_EQ(meter.share(), 0);
  meter.hit(7, 1e6);
  meter.read(2e8);
  EXPECT_NEAR(meter.share(), 0.01, 1e-9);
  EXPECT_NEAR(meter.whole_share(), 0.02, 1e-9); // 4 ms of 200 ms
  EXPECT_EQ(meter.age_ns(1.5e8), 5e7);
}

TEST(HitCosts, AreFoundByEventAndOffsetInThePage) {
  const std::vector<Probe> probes = {
      {.event_id = 7, .binary = "/a", .address = 0x1234, .hit_ns = 900},
      {.kind = Probe::Kind::exit,
       .event_id = 8,
       .binary = "/a",
       .address = 0x1250,
       .hit_ns = 14'000}};
  HitCosts costs(probes, probes);
  EXPECT_EQ(costs.take(7, 0x7f0000401234, 1, 1000), 900);
  EXPECT_EQ(costs.take(8, 0x7f0000401250, 1, 2000), 14'000);
  EXPECT_EQ(costs.take(8, 0x7f0000401234, 1, 3000), 0);
}

// The caches contain what a hit needs if the thread's previous one was less than 25 us before.
TEST(HitCosts, DependOnTheTimeSinceThePreviousHitOfTheThread) {
  const std::vector<Probe> probes = {
      {.event_id = 7, .binary = "/a", .address = 0x1234, .hit_ns = 900}};
  std::vector<Probe> frequent = probes;
  frequent[0].hit_ns = 600;
  HitCosts costs(probes, frequent);
  EXPECT_EQ(costs.take(7, 0x1234, 1, 1'000'000), 900); // the first one
  EXPECT_EQ(costs.take(7, 0x1234, 1, 1'024'999), 600);
  EXPECT_EQ(costs.take(7, 0x1234, 1, 1'049'999), 900);
  EXPECT_EQ(costs.take(7, 0x1234, 2, 1'050'000), 900); // of another thread
  EXPECT_EQ(costs.take(7, 0x1234, 1, 1'040'000), 600); // read later than the one that followed it
}

// 0.1 s on two CPUs is 200 ms, and the hits took 40 ms and 10 ms of it.
TEST(CallCounts, AreThoseOfTheProgramWithoutTheProbes) {
  const std::vector<Counted> functions = {{.hits = 20'000, .hit_ns = 2'000},
                                          {.hits = 1'000, .hit_ns = 10'000},
                                          {.hits = 0, .hit_ns = 2'000}};
  const auto rates = rates_of(functions, 0.1, 2);
  ASSERT_EQ(rates.size(), 3U);
  EXPECT_NEAR(rates[0].counted, 200'000, 1e-6);
  EXPECT_NEAR(rates[0].alone, 20'000 / 0.075, 1e-6);
  EXPECT_NEAR(rates[1].alone, 1'000 / 0.075, 1e-6);
  EXPECT_FALSE(rates[0].is_least);
  EXPECT_EQ(rates[2].alone, 0);
  EXPECT_NEAR(rates[2].most, 1 / 0.075, 1e-6);
  // One CPU: 50 ms of 100 ms is the limit of what is an estimate.
  EXPECT_NEAR(rates_of(functions, 0.1, 1)[0].alone, 400'000, 1e-6);
  const auto slowed = rates_of(functions, 0.06, 1); // 50 ms of 60 ms
  EXPECT_TRUE(slowed[0].is_least);
  EXPECT_FALSE(slowed[2].is_least); // no calls are no lower limit
  EXPECT_NEAR(slowed[0].alone, 2e6, 1e-3);
  EXPECT_TRUE(hides_others(slowed));
  EXPECT_FALSE(hides_others(rates));
}

// As the kernel prints it: probes_profile_seq_show in kernel/trace/trace_uprobe.c.
TEST(CallCounts, ReadsTheProfileOfAnEvent) {
  constexpr std::string_view text =
      "  /proc/1/fd/3 other                                                      17\n"
      "  /proc/2/fd/3 ptlens_2_3_0                                               12345\n"
      "  /proc/2/fd/4 ptlens_2_3_0                                               0\n";
  EXPECT_EQ(parse_profile(text, "ptlens_2_3_0"), (std::vector<std::uint64_t>{12345, 0}));
  EXPECT_TRUE(parse_profile("", "x").empty());
}

} // namespace
} // namespace ptlens::record::test
