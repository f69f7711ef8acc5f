// The times of branches, from the decisions around them. The expected times are computed by hand.
#include "flow/runs/run_builder.hpp"

#include <gtest/gtest.h>

namespace ptlens::flow {
namespace {

Branch branch(BranchKind kind) {
  return {.from = 0x10, .to = 0x20, .kind = kind};
}

TEST(RunBuilder, BranchOfADecisionHasItsInterval) {
  RunBuilder builder(3);
  builder.decide(TimeInterval{200, 220});
  builder.add_decided(branch(BranchKind::cond));
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->tid, 8);
  EXPECT_EQ(run->cpu, 3);
  ASSERT_EQ(run->branches.size(), 1U);
  EXPECT_EQ(run->branches[0].time_ns, 210U); // 200 .. 220
  EXPECT_EQ(run->branches[0].uncertainty_ns, 10U);
  EXPECT_FALSE(builder.take());
}

TEST(RunBuilder, BranchWithoutADecisionIsBetweenItsNeighbours) {
  RunBuilder builder(3);
  builder.decide(TimeInterval{200, 220});
  builder.add_decided(branch(BranchKind::ret));
  builder.add_between(branch(BranchKind::call));
  builder.add_between(branch(BranchKind::jump));
  EXPECT_FALSE(builder.is_long());
  builder.decide(TimeInterval{260, 300}); // not taken: no branch of its own
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  ASSERT_EQ(run->branches.size(), 3U);
  EXPECT_EQ(run->branches[1].time_ns, 250U); // 200 .. 300
  EXPECT_EQ(run->branches[1].uncertainty_ns, 50U);
  EXPECT_EQ(run->branches[2].time_ns, 250U);
  EXPECT_EQ(builder.intervals().of_nineteen_in_twenty(), 100U); // of 20, 100 and 100
}

TEST(RunBuilder, TimeNeverGoesBack) {
  RunBuilder builder(3);
  builder.decide(TimeInterval{200, 200});
  builder.add_decided(branch(BranchKind::ret));
  builder.decide(TimeInterval{180, 190});
  builder.add_decided(branch(BranchKind::ret));
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->branches[1].time_ns, 200U);
  EXPECT_EQ(run->branches[1].uncertainty_ns, 0U);
}

TEST(RunBuilder, OddIntervalIsRoundedUp) {
  RunBuilder builder(0);
  builder.decide(TimeInterval{10, 15});
  builder.add_decided(branch(BranchKind::ret));
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->branches[0].time_ns, 12U);
  EXPECT_EQ(run->branches[0].uncertainty_ns, 3U); // 9 .. 15 contains 10 .. 15
}

// After a loss the clock stops until 1100, where a timing packet sets it. A call begins before that
// and ends exactly at 1104.
TEST(RunBuilder, BehindALossTimesAreTheLatestPossible) {
  RunBuilder builder(0);
  builder.decide(TimeInterval{200, 200});
  builder.add_decided(branch(BranchKind::gap));
  builder.decide(TimeInterval{300, 1100});
  builder.add_decided(branch(BranchKind::on));
  builder.add_between(branch(BranchKind::call)); // 300 .. 1104
  builder.decide(TimeInterval{1104, 1104});
  builder.add_decided(branch(BranchKind::ret));
  builder.decide(TimeInterval{1200, 1220}); // the loss is over
  builder.add_decided(branch(BranchKind::cond));
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  ASSERT_EQ(run->branches.size(), 5U);
  const auto expect = [&](std::size_t at, std::uint64_t time_ns, std::uint32_t uncertainty_ns) {
    EXPECT_EQ(run->branches[at].time_ns, time_ns) << at;
    EXPECT_EQ(run->branches[at].uncertainty_ns, uncertainty_ns) << at;
  };
  expect(0, 200, 0);
  expect(1, 1100, 800); // 300 .. 1900 contains 300 .. 1100
  expect(2, 1104, 804);
  expect(3, 1104, 0);
  expect(4, 1210, 10);
}

// Without cycle packets an interval reaches from one timing packet to the next, and a branch of a
// later packet may have happened in the interval of the loss.
TEST(RunBuilder, BehindALossTimeNeverGoesBack) {
  RunBuilder builder(0);
  builder.decide(TimeInterval{200, 200});
  builder.add_decided(branch(BranchKind::gap));
  for (const TimeInterval interval : {TimeInterval{300, 400}, TimeInterval{300, 500},
                                      TimeInterval{400, 500}, TimeInterval{500, 600}}) {
    builder.decide(interval);
    builder.add_decided(branch(BranchKind::cond));
  }
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  std::vector<std::uint64_t> times;
  for (const Branch& each : run->branches) {
    times.push_back(each.time_ns);
  }
  EXPECT_EQ(times, (std::vector<std::uint64_t>{200, 400, 500, 500, 550}));
}

} // namespace
} // namespace ptlens::flow
