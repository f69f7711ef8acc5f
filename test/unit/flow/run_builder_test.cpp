// Times of branches from the decisions around them, worked out by hand.
#include "flow/run_builder.hpp"

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
  EXPECT_EQ(run->branches[0].spread_ns, 10U);
  EXPECT_FALSE(builder.take());
}

TEST(RunBuilder, BranchWithoutADecisionLiesBetweenItsNeighbours) {
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
  EXPECT_EQ(run->branches[1].spread_ns, 50U);
  EXPECT_EQ(run->branches[2].time_ns, 250U);
  EXPECT_EQ(builder.widths().of_nineteen_in_twenty(), 100U); // of 20, 100 and 100
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
  EXPECT_EQ(run->branches[1].spread_ns, 0U);
}

TEST(RunBuilder, OddWidthIsRoundedUp) {
  RunBuilder builder(0);
  builder.decide(TimeInterval{10, 15});
  builder.add_decided(branch(BranchKind::ret));
  builder.break_run({7, 8});
  const auto run = builder.take();
  ASSERT_TRUE(run);
  EXPECT_EQ(run->branches[0].time_ns, 12U);
  EXPECT_EQ(run->branches[0].spread_ns, 3U); // 9 .. 15 holds 10 .. 15
}

} // namespace
} // namespace ptlens::flow
