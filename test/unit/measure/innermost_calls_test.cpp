// The innermost call at a time, of calls that are written by hand.
#include "measure/places/innermost_calls.hpp"
#include "measure/recordings.hpp"
#include "measure/selection/call_subset.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace ptlens::measure {
namespace {

using test::add_call;
using test::add_function;

// Thread 1: outer [1000, 9000) makes inner [2000, 3000) and inner [4000, 5000). The last one
// begins with a call of leaf [4000, 4100). Thread 2: leaf [2500, 2600).
class InnermostCallsTest : public testing::Test {
protected:
  void SetUp() override {
    m_.threads.push_back({.pid = 1, .tid = 2, .comm = "other", .last_ns = 1'000'000'000});
    outer_ = add_function(m_, "outer()");
    inner_ = add_function(m_, "inner()");
    leaf_ = add_function(m_, "leaf()");
    const auto outer = add_call(m_, {.function = outer_, .start = 1'000, .latency = 8'000});
    add_call(m_, {.function = inner_, .parent = outer, .start = 2'000, .latency = 1'000});
    const auto second =
        add_call(m_, {.function = inner_, .parent = outer, .start = 4'000, .latency = 1'000});
    add_call(m_, {.function = leaf_, .parent = second, .start = 4'000, .latency = 100});
    add_call(m_, {.function = leaf_, .start = 2'500, .latency = 100, .thread = 1});
  }

  // Returns the innermost function at each point, and looks for all of them at once.
  std::vector<std::optional<stacks::FunctionId>> functions_at(std::vector<ThreadTime> points) {
    const Measurement measurement(m_);
    CallsNeeded needed(measurement);
    needed.add_all_calls();
    const InnermostCalls innermost(measurement, needed.edges(), points);
    std::vector<std::optional<stacks::FunctionId>> found;
    for (const ThreadTime& point : points) {
      const std::uint32_t row = innermost.at(point);
      found.push_back(row == InnermostCalls::none ? std::nullopt
                                                  : std::optional(innermost.calls().function[row]));
    }
    return found;
  }

  test::Recording m_ = test::empty_recording(1'000'000'000);
  stacks::FunctionId outer_{};
  stacks::FunctionId inner_{};
  stacks::FunctionId leaf_{};
};

TEST_F(InnermostCallsTest, CallsContainTheirStartAndNotTheirEnd) {
  using Functions = std::vector<std::optional<stacks::FunctionId>>;
  EXPECT_EQ(functions_at({{1, 999}, {1, 1'000}, {1, 2'000}, {1, 2'999}, {1, 3'000}, {1, 8'999}}),
            (Functions{std::nullopt, outer_, inner_, inner_, outer_, outer_}));
  EXPECT_EQ(functions_at({{1, 9'000}, {3, 2'000}}), (Functions{std::nullopt, std::nullopt}));
}

TEST_F(InnermostCallsTest, OfCallsThatStartTogetherTheOneMadeLastIsTheInnermost) {
  using Functions = std::vector<std::optional<stacks::FunctionId>>;
  EXPECT_EQ(functions_at({{1, 4'100}, {1, 4'000}}), (Functions{inner_, leaf_}));
}

TEST_F(InnermostCallsTest, EachThreadHasItsOwn) {
  using Functions = std::vector<std::optional<stacks::FunctionId>>;
  EXPECT_EQ(functions_at({{1, 2'500}, {2, 2'500}, {2, 2'000}}),
            (Functions{inner_, leaf_, std::nullopt}));
}

TEST_F(InnermostCallsTest, CallsThatWereOffTheCpuComeFirst) {
  // A call of inner in which the thread waits. The clock's uncertainty has put a call of leaf
  // around the beginning of the wait, though leaf did not wait.
  const auto waiting =
      add_call(m_, {.function = inner_, .start = 20'000, .latency = 1'000, .blocked = 400});
  add_call(m_, {.function = leaf_, .parent = waiting, .start = 20'100, .latency = 100});
  using Functions = std::vector<std::optional<stacks::FunctionId>>;
  EXPECT_EQ(functions_at({{1, 20'150}, {1, 4'050}}), (Functions{inner_, leaf_}));
}

} // namespace
} // namespace ptlens::measure
