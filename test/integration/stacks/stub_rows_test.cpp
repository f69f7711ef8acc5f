// Code between a call and the called function: PLT stubs, lazy binding, functions chosen at load
// time, retpolines; and return and call instructions that are no returns or calls. The expected
// numbers of each sample are those of its own loops.
#include "sample_runs.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks::testing {
namespace {

class StubRows : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_samples();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }
};

std::vector<Variant> retpoline_variants() {
  std::vector<Variant> variants;
  for (const Variant& variant : few_variants()) {
    const auto add = [&](const std::vector<std::string>& flags) {
      variants.push_back(variant);
      variants.back().flags.insert(variants.back().flags.end(), flags.begin(), flags.end());
    };
    if (variant.is_gcc()) {
      add({"-mindirect-branch=thunk", "-fcf-protection=none"});
      add({"-mindirect-branch=thunk", "-mfunction-return=thunk", "-fcf-protection=none"});
      add({"-mindirect-branch=thunk-inline", "-fcf-protection=none"});
    } else {
      add({"-mretpoline"});
    }
  }
  return variants;
}

TEST_F(StubRows, RetpolinesBecomeCallsOfTheFunctionThatTheyReach) {
  for_each_run({.source = "retpoline.c"}, retpoline_variants(), [](const SampleRun& run) {
    const bool jumps = run.variant.optimised;
    expect_calls(run, {{"calls", "main", complete, false, 6},
                       {"jumps", "main", complete, false, 6},
                       {"switches", "main", complete, false, 6},
                       {"add", "calls", complete, false, 3},
                       {"negate", "calls", complete, false, 3},
                       {"add", "jumps", complete, jumps, 3},
                       {"negate", "jumps", complete, jumps, 3},
                       {"add", "switches", complete, false, 1},
                       {"negate", "switches", complete, false, 1}});
    for (const std::string& name : run.called()) {
      EXPECT_FALSE(name.starts_with("__x86") || name.starts_with("__llvm")) << name;
    }
    expect_truth(run);
    expect_time_adds_up(run);
  });
}

TEST_F(StubRows, LazyBindingBecomesACallOfTheFunctionThatItFinds) {
  Sample sample{.source = "stubs.c"};
  sample.environment = {"LD_BIND_NOW="}; // empty: bind when called
  std::size_t bound_late = 0;
  for_each_run(sample, all_variants(), [&bound_late](const SampleRun& run) {
    const bool jumps = run.variant.optimised;
    expect_calls(run, {{"bound_once", "main", complete, false, 1},
                       {"rand_r", "bound_once", complete, false, 3},
                       {"bound_by_jump", "main", complete, false, 2},
                       {"a64l", "bound_by_jump", complete, jumps, 2},
                       {"uses_selected", "main", complete, false, 3},
                       {"quick", "uses_selected", complete, false, 3}});
    for (const std::string& name : run.called()) {
      EXPECT_FALSE(name.ends_with("@plt") || name.starts_with("_dl_runtime_resolve")) << name;
    }
    expect_truth(run);
    expect_time_adds_up(run);
    // The first call of rand_r contains the search for it.
    const auto calls = run.calls("rand_r");
    const CallTable& table = run.measurement->calls;
    if (!calls.empty() && table.children[calls[0]] > 0) {
      EXPECT_GT(table.latency[calls[0]], 10 * table.latency[calls[1]]);
      ++bound_late;
    }
  });
  EXPECT_GE(bound_late, 2U) << "no variant binds late: the test shows nothing";
}

// Through the PLT, and through IRELATIVE relocations of a static program.
TEST_F(StubRows, CallsOfAnIndirectFunctionAreCallsOfTheChosenFunction) {
  for_each_run({.source = "stubs.c"}, all_variants(), [](const SampleRun& run) {
    expect_calls(run, {{"quick", "uses_selected", complete, false, 3}});
    EXPECT_EQ(run.calls("selected").size(), 0U);
    EXPECT_EQ(run.calls("choose").size(), 0U); // before main
  });
}

TEST_F(StubRows, ReturnAndCallInstructionsThatAreNoReturnsOrCalls) {
  for_each_run({.source = "odd_returns.c"}, all_variants(), [](const SampleRun& run) {
    std::vector<Edge> edges{{"all_of_them", "main", complete, false, 3},
                            {"target", "pushes_target", complete, true, 3},
                            {"target", "skips_data", complete, false, 3},
                            {"target", "has_subroutine", complete, false, 6}};
    for (const char* name : {"pushes_target", "reads_pointer", "skips_data", "has_subroutine",
                             "returns_by_jump", "enters_far_return"}) {
      edges.push_back({name, "all_of_them", complete, false, 3});
    }
    edges.push_back({"returns_twice_as_far", "enters_far_return", CallState::unwound, false, 3});
    expect_calls(run, edges);
    expect_truth(run);
    expect_time_adds_up(run);
  });
}

} // namespace
} // namespace ptlens::stacks::testing
