// Calls that do not return: exceptions and longjmp. Each sample's numbers are those of its own
// loops.
#include "sample_runs.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks::testing {
namespace {

class UnwindingRows : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_samples();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }
};

TEST_F(UnwindingRows, ExceptionsEndCallsUpToTheHandler) {
  for_each_run({.source = "exceptions.cpp"}, few_variants(), [](const SampleRun& run) {
    const bool jumps = run.variant.optimised;
    expect_calls(run, {{"catcher", "main", complete, false, 2},
                       {"between", "catcher", unwound, false, 2},
                       {"guarded", "between", unwound, false, 2},
                       {"thrower", "guarded", unwound, false, 2},
                       {"Guard::~Guard()", "guarded", complete, false, 2},
                       {"clean_up", "Guard::~Guard()", complete, jumps, 2},
                       {"catches_again", "main", complete, false, 1},
                       {"rethrows", "catches_again", unwound, false, 1},
                       {"thrower", "rethrows", unwound, false, 1},
                       {"descend", "main", complete, false, 1},
                       {"descend", "descend", complete, false, 2},
                       {"descend", "descend", unwound, false, 3}});
    expect_truth(run);
    expect_time_adds_up(run);
  });
}

TEST_F(UnwindingRows, LongjmpEndsCallsUpToTheActivationThatCalledSetjmp) {
  for_each_run({.source = "longjmp.c"}, all_variants(), [](const SampleRun& run) {
    expect_calls(run, {{"lands", "main", complete, false, 3},
                       {"passes", "lands", unwound, false, 3},
                       {"jumper", "passes", unwound, false, 3},
                       {"search", "main", complete, false, 1},
                       {"search", "search", complete, false, 2},
                       {"search", "search", unwound, false, 4},
                       {"lands_within", "main", complete, false, 2},
                       {"jumps_within", "lands_within", unwound, false, 2}});
    expect_truth(run);
    expect_time_adds_up(run);
  });
}

} // namespace
} // namespace ptlens::stacks::testing
