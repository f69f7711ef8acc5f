// Several stacks in one thread: coroutines and fibers. The frames of a stack that is left stay
// open, and their calls are complete when they return. The expected numbers of each sample are
// those of its own loops.
#include "sample_runs.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks::testing {
namespace {

class StackSwitchRows : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_samples();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }
};

TEST_F(StackSwitchRows, FramesOfACoroutineStayOpenWhileOthersRun) {
  for_each_run({.source = "contexts.c"}, all_variants(), [](const SampleRun& run) {
    const bool jumps = run.variant.optimised;
    expect_calls(run, {{"left_worker", "", complete, false, 1},
                       {"pause_inside", "left_worker", complete, false, 3},
                       {"inner", "pause_inside", complete, false, 3},
                       {"inner", "pause_inside", complete, jumps, 3},
                       {"yield", "pause_inside", complete, false, 3},
                       {"right_worker", "", complete, false, 1},
                       {"inner", "right_worker", complete, false, 3},
                       {"yield", "right_worker", complete, false, 3},
                       {"generator", "", complete, false, 1},
                       {"inner", "generator", complete, false, 1},
                       {"yield", "generator", complete, false, 1},
                       {"twin", "", complete, false, 2},
                       {"inner", "twin", complete, false, 4},
                       {"yield", "twin", complete, false, 2},
                       {"workers", "main", complete, false, 1},
                       {"resume", "workers", complete, false, 8},
                       {"generate", "main", complete, false, 1},
                       {"resume", "generate", complete, false, 2},
                       {"inner", "generate", complete, false, 1},
                       {"twins", "main", complete, false, 1},
                       {"resume", "twins", complete, false, 4},
                       {"__swapcontext", "yield", complete, false, 9},
                       {"__swapcontext", "resume", complete, false, 14}});
    expect_truth(run);
    expect_time_adds_up(run);
    // Both twins wait at the same address in the same function: nothing shows which one goes on.
    ASSERT_EQ(run.measurement->recording.notes.size(), 1U);
    EXPECT_TRUE(run.measurement->recording.notes[0].text.starts_with("1 times"))
        << run.measurement->recording.notes[0].text;
  });
}

// Each switch is made in one function, so that every stack waits for the same address.
TEST_F(StackSwitchRows, HandWrittenSwitchesByReturnAndByJump) {
  for_each_run({.source = "fibers.c"}, all_variants(), [](const SampleRun& run) {
    const bool jumps = run.variant.optimised;
    std::vector<Edge> edges{
        {"round_trip", "main", complete, false, 2}, {"go", "round_trip", complete, false, 6},
        {"first_fiber", "", unwound, false, 2},     {"step", "first_fiber", complete, false, 6},
        {"go", "first_fiber", complete, false, 4},  {"go", "first_fiber", unwound, jumps, 2},
        {"second_fiber", "", unwound, false, 2},    {"step", "second_fiber", complete, false, 4},
        {"go", "second_fiber", complete, false, 2}, {"go", "second_fiber", unwound, jumps, 2}};
    for (const char* name : {"by_return", "by_jump"}) {
      edges.push_back({name, "go", complete, false, 6});
      edges.push_back({name, "go", unwound, false, 2});
    }
    expect_calls(run, edges);
    expect_truth(run);
    expect_time_adds_up(run);
    EXPECT_TRUE(run.measurement->recording.notes.empty());
  });
}

} // namespace
} // namespace ptlens::stacks::testing
