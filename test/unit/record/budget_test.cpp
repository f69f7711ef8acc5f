// Loads and plans whose values are calculated by hand.
#include "record/probes/budget_plan.hpp"
#include "record/probes/call_counts.hpp"
#include "record/probes/probe_load.hpp"

#include <gtest/gtest.h>

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
  EXPECT_NEAR(plan.share, 0.04, 1e-9);
  EXPECT_EQ(plan.duty, 1);
  // Twice as much is lost on two CPUs: half the share.
  EXPECT_EQ(plan_within(candidates, 0.05, 2).chosen, (Chosen{true, false, true, true, true}));
  EXPECT_EQ(plan_within(candidates, 1, 1).chosen, (Chosen{true, true, true, true, true}));
}

TEST(BudgetPlan, MeasuresInBurstsWhatBreaksTheBudgetAlone) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 100'000, .cost_ns = 2'000}, // 20 %
      {.name = "g", .calls_a_s = 1, .cost_ns = 2'000}};
  const BudgetPlan plan = plan_within(candidates, 0.05, 1);
  EXPECT_EQ(plan.chosen, (Chosen{true, false}));
  EXPECT_NEAR(plan.duty, 0.25, 1e-9);
}

TEST(BudgetPlan, KeepsWhatTheUserAskedFor) {
  const std::vector<Candidate> candidates = {
      {.name = "f", .target = true, .calls_a_s = 1000, .cost_ns = 2'000},
      {.name = "lock", .forced = true, .calls_a_s = 50'000, .cost_ns = 2'000}}; // 10 %
  EXPECT_EQ(plan_within(candidates, 0.05, 1).chosen, (Chosen{true, true}));
}

TEST(ProbeLoad, IsThatOfTheMostLoadedThread) {
  ProbeLoad load;
  for (int hit = 0; hit < 5'000; ++hit) { // 50,000 hits of 1.5 us in a second
    load.add(1, 1'500);
  }
  load.add(2, 1'000);
  EXPECT_NEAR(load.share(1e8, 1e8), 0.075, 1e-4);
  EXPECT_NEAR(load.share(1e8, 4e8), 0.075, 1e-4); // the other threads do not help this one
  EXPECT_NEAR(slowdown(0.2), 1.25, 1e-9);
  EXPECT_EQ(slowdown(0), 1);
}

TEST(ProbeLoad, OfThreadsThatShareCpusIsTheirSum) {
  ProbeLoad load;
  for (std::int32_t tid = 1; tid <= 10; ++tid) {
    load.add(tid, 1e6);
  }
  EXPECT_NEAR(load.share(1e8, 1e8), 0.1, 1e-9);  // ten times 1 % of one CPU
  EXPECT_NEAR(load.share(1e8, 2e8), 0.05, 1e-9); // of two
}

TEST(HitCosts, AreFoundByEventAndOffsetInThePage) {
  const std::vector<Probe> probes = {
      {.event_id = 7, .binary = "/a", .address = 0x1234, .hit_ns = 900},
      {.kind = Probe::Kind::exit,
       .event_id = 8,
       .binary = "/a",
       .address = 0x1250,
       .hit_ns = 14'000}};
  const HitCosts costs(probes);
  EXPECT_EQ(costs.of(7, 0x7f0000401234), 900);
  EXPECT_EQ(costs.of(8, 0x7f0000401250), 14'000);
  EXPECT_EQ(costs.of(8, 0x7f0000401234), 0);
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
