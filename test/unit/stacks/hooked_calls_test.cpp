// Entries and exits with the depths that a hook counts.
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/hooked_calls.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks {
namespace {

class HookedCallsTest : public ::testing::Test {
protected:
  static constexpr FunctionId f{0};
  static constexpr FunctionId g{1};
  static constexpr FunctionId h{2};

  void enter(std::uint64_t time, std::uint32_t depth, FunctionId function, bool part = false,
             bool stub = false) {
    calls_.add({.time_ns = time,
                .depth = depth,
                .function = function,
                .entry = true,
                .part = part,
                .stub = stub});
  }
  void leave(std::uint64_t time, std::uint32_t depth, FunctionId function,
             bool returns_twice = false) {
    calls_.add(
        {.time_ns = time, .depth = depth, .function = function, .returns_twice = returns_twice});
  }
  void finish(std::uint64_t time, bool exited) {
    calls_.finish(time, exited);
    table_ = builder_.take();
  }
  [[nodiscard]] std::size_t count(FunctionId function, CallState state) const {
    std::size_t count = 0;
    for (std::size_t call = 0; call < table_.size(); ++call) {
      count += table_.function[call] == function && table_.state[call] == state ? 1U : 0U;
    }
    return count;
  }

  CallTableBuilder builder_;
  CallTable table_;
  perfdata::ContextSwitches context_switches_{{}};
  HookedCalls calls_{builder_.thread(0), context_switches_, 1, {.inside = 3, .around = 4}};
};

TEST_F(HookedCallsTest, NestedCallsHaveParentsSelfTimeAndTheUncertaintyOfTheirHooks) {
  enter(100, 0, f);
  enter(110, 1, g);
  enter(115, 2, h);
  leave(120, 2, h);
  leave(130, 1, g);
  enter(140, 1, g);
  leave(150, 1, g);
  leave(200, 0, f);
  finish(300, false);
  ASSERT_EQ(table_.size(), 4U);
  EXPECT_EQ(table_.latency[0], 100U);
  EXPECT_EQ(table_.self(0), 70U);
  EXPECT_EQ(table_.parent[1], CallIndex{0});
  EXPECT_EQ(table_.parent[2], CallIndex{1});
  EXPECT_EQ(table_.parent[3], CallIndex{0});
  EXPECT_EQ(count(f, CallState::complete), 1U);
  // A call contains 3 ns of its own hooks, and 7 ns for each call in it.
  EXPECT_EQ(table_.uncertainty[2], 4 * 3U);
  EXPECT_EQ(table_.uncertainty[1], 4 * 3U + 7U);
  EXPECT_EQ(table_.uncertainty[0], 4 * 3U + 3 * 7U);
}

// 3 ns for each hook in quick succession: four times as much up to 10 µs after the function's
// previous call, eight times after 100 µs, twelve times after 1 ms, twenty times after 100 ms and
// in its first call.
TEST_F(HookedCallsTest, AfterAPauseTheHooksOfACallAreMoreUncertain) {
  constexpr std::uint64_t begin = 1'000'000'000;
  std::uint64_t time = begin;
  for (const std::uint64_t pause :
       {0U, 10'000U, 100'000U, 1'000'000U, 100'000'000U, 500'000'000U}) {
    time += pause;
    enter(time, 0, g);
    leave(time += 100, 0, g);
  }
  enter(time, 0, g);
  leave(time + 1'000'000, 0, g); // its exit comes 1 ms after the thread's previous hook
  finish(2 * begin, false);
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t times : {20U, 4U, 8U, 12U, 20U, 20U, 12U}) {
    expected.push_back(times * 3);
  }
  EXPECT_EQ(table_.uncertainty, expected);
}

TEST_F(HookedCallsTest, RecursionAndEqualTimesKeepTheNesting) {
  enter(1, 0, f);
  enter(1, 1, f);
  enter(1, 2, f);
  leave(1, 2, f);
  leave(1, 1, f);
  leave(2, 0, f);
  finish(3, false);
  ASSERT_EQ(table_.size(), 3U);
  EXPECT_EQ(count(f, CallState::complete), 3U);
  EXPECT_EQ(table_.parent[0], CallIndex::none);
  EXPECT_EQ(table_.parent[1], CallIndex{0});
  EXPECT_EQ(table_.parent[2], CallIndex{1});
  EXPECT_EQ(table_.inner[0], 0);
  EXPECT_EQ(table_.inner[2], 1);
}

// longjmp from h to f: the next hook is at a smaller depth.
TEST_F(HookedCallsTest, CallsThatALowerDepthEndedAreUnwoundWhenTheyWereLastSeen) {
  enter(100, 0, f);
  enter(110, 1, g);
  enter(120, 2, h);
  enter(500, 1, h);
  leave(510, 1, h);
  leave(600, 0, f);
  finish(700, false);
  EXPECT_EQ(count(g, CallState::unwound), 1U);
  EXPECT_EQ(count(h, CallState::unwound), 1U);
  EXPECT_EQ(count(h, CallState::complete), 1U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
  EXPECT_EQ(table_.latency[1], 10U); // until h began, not until 500
}

TEST_F(HookedCallsTest, AFunctionThatReturnsTwiceIsOneCall) {
  enter(100, 0, f);
  enter(110, 1, g); // setjmp
  leave(111, 1, g);
  enter(120, 1, h); // longjmp
  leave(130, 1, g, true);
  leave(200, 0, f);
  finish(300, false);
  ASSERT_EQ(table_.size(), 3U);
  EXPECT_EQ(count(g, CallState::complete), 1U);
  EXPECT_EQ(count(h, CallState::unwound), 1U);
}

TEST_F(HookedCallsTest, CallsAroundAGapAreIncompleteAndLaterOnesAreNot) {
  enter(100, 0, f);
  enter(110, 1, g);
  calls_.add_gap();
  leave(300, 1, g);
  enter(310, 1, h);
  leave(320, 1, h);
  leave(400, 0, f);
  finish(500, false);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
  EXPECT_EQ(count(g, CallState::incomplete), 1U);
  EXPECT_EQ(count(h, CallState::complete), 1U);
  EXPECT_EQ(calls_.gaps(), 1U);
  EXPECT_EQ(calls_.lost(), (std::vector<Gap>{{110, 300}}));
  EXPECT_EQ(calls_.lost_ns(), 190U);
}

// A forked process begins inside its parent's calls.
TEST_F(HookedCallsTest, AnExitWithoutEntryIsAnIncompleteCall) {
  leave(100, 3, g);
  enter(110, 3, h);
  leave(120, 3, h);
  leave(130, 2, f);
  finish(200, true);
  EXPECT_EQ(count(g, CallState::incomplete), 1U);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
  EXPECT_EQ(count(h, CallState::complete), 1U);
}

TEST_F(HookedCallsTest, OpenCallsAreIncompleteAtTheEndOfTheRecordingAndUnwoundAtThatOfTheThread) {
  enter(100, 0, f);
  finish(200, false);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
  CallTableBuilder builder;
  HookedCalls exited(builder.thread(0), context_switches_, 1, {});
  exited.add({.time_ns = 100, .function = f, .entry = true});
  exited.finish(200, true);
  const CallTable table = builder.take();
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(table.state[0], CallState::unwound);
}

// The cold part of g is patched as if it were a function.
TEST_F(HookedCallsTest, APartOfAFunctionIsNoCall) {
  enter(100, 0, g);
  enter(110, 1, g, true);
  enter(115, 2, h);
  leave(116, 2, h);
  leave(120, 1, g);
  leave(130, 0, g);
  finish(200, false);
  ASSERT_EQ(table_.size(), 2U);
  EXPECT_EQ(table_.latency[0], 30U);
  EXPECT_EQ(table_.parent[1], CallIndex{0}); // h
}

// Called through the PLT, with a hook in the function too; it calls itself once.
TEST_F(HookedCallsTest, AStubAndItsFunctionAreOneCall) {
  enter(100, 0, g, false, true);
  enter(101, 1, g);
  enter(105, 2, g);
  leave(106, 2, g);
  leave(109, 1, g);
  leave(110, 0, g);
  finish(200, false);
  ASSERT_EQ(table_.size(), 2U);
  EXPECT_EQ(table_.latency[0], 10U);
  EXPECT_EQ(table_.latency[1], 1U);
}

} // namespace
} // namespace ptlens::stacks
