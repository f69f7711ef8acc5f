// Probe hits with the stack pointers of a program whose calls are known.
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/probe_calls.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks {
namespace {

constexpr FunctionId f = 0_fn;
constexpr FunctionId g = 1_fn;

class ProbeCallsTest : public ::testing::Test {
protected:
  void enter(std::uint64_t time, FunctionId function, std::uint64_t stack_pointer,
             std::uint64_t return_address = 0x100) {
    calls_.add({time, stack_pointer, function, SiteId::none, return_address, true, false,
                FunctionId::none});
  }
  void leave(std::uint64_t time, FunctionId function, std::uint64_t stack_pointer,
             bool tail = false, FunctionId tail_target = FunctionId::none) {
    calls_.add({time, stack_pointer, function, SiteId::none, 0, false, tail, tail_target});
  }
  std::size_t count(FunctionId function, CallState state) const {
    std::size_t count = 0;
    for (std::size_t call = 0; call < table_.size(); ++call) {
      count += table_.function[call] == function && table_.state[call] == state ? 1 : 0;
    }
    return count;
  }

  void finish(std::uint64_t time, bool exited) {
    calls_.finish(time, exited);
    table_ = builder_.take();
  }

  CallTableBuilder builder_;
  CallTable table_;
  flow::ContextSwitches context_switches_{{}};
  ProbeCalls calls_{builder_.thread(0), context_switches_, 1};
};

TEST_F(ProbeCallsTest, NestedCallsHaveParentsAndSelfTime) {
  enter(100, f, 1000);
  enter(120, g, 900);
  leave(150, g, 900);
  leave(200, f, 1000);
  finish(300, false);
  ASSERT_EQ(table_.size(), 2U);
  EXPECT_EQ(table_.latency[0], 100U);
  EXPECT_EQ(table_.self(0), 70U);
  EXPECT_EQ(table_.parent[1], 0_row);
  EXPECT_EQ(table_.latency[1], 30U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
}

TEST_F(ProbeCallsTest, ThreeRecursiveActivationsAreThreeCalls) {
  enter(1, f, 1000);
  enter(2, f, 900);
  enter(3, f, 800);
  leave(4, f, 800);
  leave(5, f, 900);
  leave(6, f, 1000);
  finish(7, false);
  EXPECT_EQ(count(f, CallState::complete), 3U);
  EXPECT_EQ(table_.inner, (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{5, 3, 1}));
}

TEST_F(ProbeCallsTest, ATailCallEndsWithItsCaller) {
  enter(10, f, 1000);
  leave(20, f, 1000, true);
  enter(21, g, 1000);
  leave(50, g, 1000);
  finish(60, false);
  ASSERT_EQ(table_.size(), 2U);
  EXPECT_EQ(table_.latency[0], 40U); // f includes what it jumped to
  EXPECT_EQ(table_.latency[1], 29U);
  EXPECT_EQ(table_.tail_call[1], 1);
  EXPECT_EQ(count(f, CallState::complete), 1U);
  EXPECT_EQ(count(g, CallState::complete), 1U);
}

TEST_F(ProbeCallsTest, AJumpToAFunctionWithoutProbeLeavesALowerBound) {
  enter(10, f, 1000);
  leave(20, f, 1000, true);
  enter(100, f, 1000); // called again: the first call has ended
  leave(130, f, 1000);
  finish(200, false);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
  EXPECT_EQ(table_.latency[0], 10U);
}

TEST_F(ProbeCallsTest, ACallAtTheSameSlotThatIsNotTheJumpsTargetIsNoTailCall) {
  enter(10, f, 1000);
  leave(20, f, 1000, true, f); // jumps elsewhere than to g
  enter(21, g, 1000);
  leave(50, g, 1000);
  finish(60, false);
  EXPECT_EQ(table_.tail_call[1], 0);
  EXPECT_EQ(table_.parent[1], CallIndex::none);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
}

TEST_F(ProbeCallsTest, ACallFromElsewhereAtTheSameSlotIsNoTailCall) {
  enter(10, f, 1000, 0x100);
  leave(20, f, 1000, true);  // to a function without probe
  enter(30, g, 1000, 0x200); // the caller's next call, from its next line
  leave(50, g, 1000);
  finish(60, false);
  EXPECT_EQ(table_.tail_call[1], 0);
  EXPECT_EQ(table_.latency[1], 20U);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
}

TEST_F(ProbeCallsTest, AConditionalJumpThatWasNotTakenIsNoExit) {
  enter(10, f, 1000);
  leave(20, f, 1000, true);
  leave(30, f, 1000);
  finish(40, false);
  ASSERT_EQ(table_.size(), 1U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
  EXPECT_EQ(table_.latency[0], 20U);
}

TEST_F(ProbeCallsTest, FramesBelowTheStackPointerWereUnwound) {
  enter(10, f, 1000);
  enter(20, g, 900);
  leave(50, f, 1000); // g never left: it threw, f caught
  finish(60, false);
  EXPECT_EQ(count(g, CallState::unwound), 1U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
}

TEST_F(ProbeCallsTest, ACallThatWasRunningAtTheStartIsIncomplete) {
  leave(30, f, 1000);
  enter(40, f, 1000);
  leave(45, f, 1000);
  finish(60, false);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
}

TEST_F(ProbeCallsTest, TheEndOfTheThreadUnwindsAndTheEndOfTheRecordingCuts) {
  enter(10, f, 1000);
  finish(60, false);
  EXPECT_EQ(count(f, CallState::incomplete), 1U);

  CallTableBuilder builder;
  ProbeCalls exited(builder.thread(0), context_switches_, 1);
  exited.add({10, 1000, f, SiteId::none, 0x100, true, false, FunctionId::none});
  exited.finish(60, true);
  EXPECT_EQ(builder.take().state[0], CallState::unwound);
}

TEST_F(ProbeCallsTest, AFunctionThatBeginsAgainForALargerStackIsOneCall) {
  const auto restart = [this](std::uint64_t time, FunctionId function, std::uint64_t pointer) {
    calls_.add({.time_ns = time, .stack_pointer = pointer, .function = function, .restart = true});
  };
  enter(10, f, 1000);
  enter(20, f, 900); // recursion
  restart(21, f, 900);
  enter(30, f, 900);
  restart(31, f, 900); // and again, because the scheduler wants the thread
  enter(50, f, 900);
  leave(60, f, 900);
  leave(70, f, 1000);
  finish(80, false);
  EXPECT_EQ(count(f, CallState::complete), 2U);
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{60, 40}));
}

TEST_F(ProbeCallsTest, TheNextCallAfterAPanicIsAnotherOne) {
  enter(10, f, 1000);
  enter(20, g, 900); // panics, and f calls it again at the same place
  enter(30, g, 900);
  leave(40, g, 900);
  leave(50, f, 1000);
  finish(60, false);
  EXPECT_EQ(count(g, CallState::complete), 1U);
  EXPECT_EQ(count(g, CallState::unwound), 1U);
}

} // namespace
} // namespace ptlens::stacks
