// Probe hits with the stack pointers of a program whose calls are known.
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/probe_calls.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks {
namespace {

class ProbeCallsTest : public ::testing::Test {
protected:
  static constexpr FunctionId f = 0_fn;
  static constexpr FunctionId g = 1_fn;

  void enter(std::uint64_t time, FunctionId function, std::uint64_t stack_pointer,
             std::uint64_t return_address = 0x100) {
    calls_.add({time, stack_pointer, function, SiteId::none, return_address, true, false,
                FunctionId::none});
  }
  void leave(std::uint64_t time, FunctionId function, std::uint64_t stack_pointer,
             bool tail = false, FunctionId tail_target = FunctionId::none) {
    calls_.add({time, stack_pointer, function, SiteId::none, 0, false, tail, tail_target});
  }
  // Hits that take 60 ± 6 ns from their thread at an entry and 40 ± 4 ns at an exit; 50 ± 5 ns of
  // that is in the latency of the call itself.
  void enter_at_cost(std::uint64_t time, FunctionId function, std::uint64_t stack_pointer) {
    calls_.add({.time_ns = time,
                .stack_pointer = stack_pointer,
                .function = function,
                .return_address = 0x100,
                .entry = true,
                .cost = {60, 6},
                .excess = {50, 5}});
  }
  void leave_at_cost(std::uint64_t time, FunctionId function, std::uint64_t stack_pointer,
                     bool tail = false, FunctionId tail_target = FunctionId::none) {
    calls_.add({.time_ns = time,
                .stack_pointer = stack_pointer,
                .function = function,
                .tail_exit = tail,
                .tail_target = tail_target,
                .cost = {40, 4}});
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
  perfdata::ContextSwitches context_switches_{{}};
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

TEST_F(ProbeCallsTest, ReturnProbesEndATailCallAndThenItsCaller) {
  const auto hit = [this](std::uint64_t time, FunctionId function, bool entry) {
    calls_.add({.time_ns = time,
                .stack_pointer = 1000,
                .function = function,
                .return_address = 0x100,
                .entry = entry,
                .returns = true});
  };
  hit(10, f, true);
  hit(20, g, true); // f jumped to g
  hit(50, g, false);
  hit(51, f, false);
  hit(60, f, true); // called again from the same place
  hit(70, f, false);
  finish(80, false);
  ASSERT_EQ(table_.size(), 3U);
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{41, 30, 10}));
  EXPECT_EQ(table_.tail_call, (std::vector<std::uint8_t>{0, 1, 0}));
  EXPECT_EQ(count(f, CallState::complete), 2U);
  EXPECT_EQ(count(g, CallState::complete), 1U);
}

TEST_F(ProbeCallsTest, ACallerWithAReturnProbeOutlivesTheExitOfItsTailCallee) {
  calls_.add({.time_ns = 10, .stack_pointer = 1000, .function = f, .entry = true, .returns = true});
  enter(20, g, 1000);
  leave(50, g, 1000);
  calls_.add({.time_ns = 55, .stack_pointer = 1000, .function = f, .returns = true});
  finish(80, false);
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{45, 30}));
  EXPECT_EQ(count(f, CallState::complete), 1U);
  EXPECT_EQ(count(f, CallState::incomplete), 0U);
}

TEST_F(ProbeCallsTest, ACalleeCountsOnlyWhereTheMeasuredFunctionCallsIt) {
  const auto callee = [this](std::uint64_t time, std::uint64_t stack_pointer, bool entry,
                             FunctionId caller) {
    calls_.add({.time_ns = time,
                .stack_pointer = stack_pointer,
                .function = g,
                .entry = entry,
                .callee = true,
                .caller = caller});
  };
  callee(10, 900, true, 7_fn); // from elsewhere
  callee(15, 900, false, FunctionId::none);
  enter(20, f, 1000);
  callee(30, 900, true, f);
  callee(40, 900, false, FunctionId::none);
  callee(50, 800, true, 7_fn); // from a function between
  callee(60, 800, false, FunctionId::none);
  leave(70, f, 1000);
  finish(80, false);
  ASSERT_EQ(table_.size(), 2U);
  EXPECT_EQ(count(g, CallState::complete), 1U);
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{50, 10}));
}

TEST_F(ProbeCallsTest, CallsAcrossTheEndOfABurstAreIncomplete) {
  enter(10, f, 1000);
  calls_.finish(20, false); // the burst ends
  leave(110, f, 1000);      // of the same call, or of another one
  enter(120, f, 1000);
  leave(130, f, 1000);
  finish(200, false);
  EXPECT_EQ(count(f, CallState::incomplete), 2U);
  EXPECT_EQ(count(f, CallState::complete), 1U);
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{10, 0, 10}));
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

TEST_F(ProbeCallsTest, AnExitLongAfterThePreviousHitTakesLonger) {
  const auto enter_f = [this](std::uint64_t time) {
    calls_.add({.time_ns = time,
                .stack_pointer = 1000,
                .function = f,
                .return_address = 0x100,
                .entry = true,
                .excess = {50, 5},
                .late = {20, 30}});
  };
  enter_f(1000);
  leave_at_cost(101'000, f, 1000);
  enter_f(201'000);
  leave_at_cost(206'000, f, 1000);
  enter_f(301'000);
  enter_at_cost(399'000, g, 900);
  leave_at_cost(400'000, g, 900);
  leave_at_cost(401'000, f, 1000);
  finish(500'000, false);
  ASSERT_EQ(table_.size(), 4U);
  EXPECT_EQ(table_.uncertainty[0], 5U + 30);
  EXPECT_EQ(table_.uncertainty[1], 5U);
  EXPECT_EQ(table_.uncertainty[2], 5U + 6 + 4);
  EXPECT_EQ(table_.latency[0], 100'000U - 50 - 20);
  EXPECT_EQ(table_.latency[1], 5'000U - 50);
}

TEST_F(ProbeCallsTest, ACallExcludesItsOwnExcessAndTheHitsInIt) {
  enter_at_cost(1000, f, 1000);
  enter_at_cost(2000, g, 900);
  leave_at_cost(2500, g, 900);
  enter_at_cost(3000, g, 900);
  leave_at_cost(3200, g, 900);
  leave_at_cost(4000, f, 1000);
  finish(5000, false);
  ASSERT_EQ(table_.size(), 3U);
  EXPECT_EQ(table_.latency[0], 3000U - 50 - 2 * (60 + 40));
  EXPECT_EQ(table_.removed[0], 250U);
  EXPECT_EQ(table_.uncertainty[0], 5U + 2 * (6 + 4));
  EXPECT_EQ(table_.latency[1], 500U - 50);
  EXPECT_EQ(table_.uncertainty[1], 5U);
  EXPECT_EQ(table_.latency[2], 200U - 50);
  EXPECT_EQ(table_.children[0], 450U + 150);
  EXPECT_EQ(table_.wall(0), 3000U);
}

// The tail call's exit and entry are inside the call that it continues.
TEST_F(ProbeCallsTest, AJumpAndItsTargetCostTimeInTheCallThatJumps) {
  enter_at_cost(1000, f, 1000);
  leave_at_cost(1500, f, 1000, true, g);
  enter_at_cost(1600, g, 1000);
  leave_at_cost(3000, g, 1000);
  finish(5000, false);
  ASSERT_EQ(table_.size(), 2U);
  EXPECT_EQ(table_.latency[0], 2000U - 50 - 40 - 60);
  EXPECT_EQ(table_.latency[1], 1400U - 50);
}

TEST_F(ProbeCallsTest, ACallThatIsShorterThanItsProbesHasAnUpperBound) {
  enter_at_cost(1000, f, 1000);
  leave_at_cost(1047, f, 1000);
  enter_at_cost(2000, f, 1000);
  leave_at_cost(2030, f, 1000);
  finish(5000, false);
  EXPECT_EQ(table_.latency[0], 0U);
  EXPECT_EQ(table_.removed[0], 47U);
  EXPECT_EQ(table_.uncertainty[0], 2U); // probes took at least 45 ns
  EXPECT_EQ(table_.latency[1], 0U);
  EXPECT_EQ(table_.uncertainty[1], 30U); // that they did not: it is at most what was measured
}

// Probes take time on a CPU: what the thread waited remains.
TEST(ProbeCallsOffCpu, StaysInTheLatency) {
  const perfdata::Switch out{.time_ns = 1010, .pid = 1, .tid = 1, .out = true};
  const perfdata::Switch in{.time_ns = 1990, .pid = 1, .tid = 1, .out = false};
  const perfdata::ContextSwitches switches(std::vector{out, in});
  CallTableBuilder builder;
  ProbeCalls calls(builder.thread(0), switches, 1);
  calls.add(
      {.time_ns = 1000, .stack_pointer = 100, .function = 0_fn, .entry = true, .excess = {50, 5}});
  calls.add({.time_ns = 2000, .stack_pointer = 100, .function = 0_fn});
  calls.finish(3000, false);
  const CallTable table = builder.take();
  EXPECT_EQ(table.off_cpu(0), 980U);
  EXPECT_EQ(table.latency[0], 980U); // of 1,000 ns, 20 were on a CPU
  EXPECT_EQ(table.uncertainty[0], 20U);
}

// f calls g, which calls f and then throws into the outer f: nothing shows when g ended, but that f
// ended at 9,000 ns.
TEST_F(ProbeCallsTest, AnUnwoundCallHasBoundsAndNoLatency) {
  enter(1000, f, 1000);
  enter(2000, g, 900);
  enter(2100, f, 800);
  leave(2400, f, 800);
  leave(9000, f, 1000);
  finish(10'000, false);
  ASSERT_EQ(table_.size(), 3U);
  EXPECT_EQ(table_.state[1], CallState::unwound);
  EXPECT_EQ(table_.end_unknown[1], 1);
  EXPECT_EQ(table_.latency[1], 300U); // at least what it called
  EXPECT_EQ(table_.uncertainty[1], 7000U - 300);
  EXPECT_EQ(table_.self(1), 0U);
  EXPECT_EQ(table_.end_unknown[0], 0);
  EXPECT_EQ(calls_.callers_of_unseen(), std::set{f});
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

// The probes of g are removed at 3,000 ns, while f and g are open. Hits of g still take time until
// the kernel has removed them.
TEST_F(ProbeCallsTest, ACallGoesOnWhenTheProbesOfItsCalleesAreRemoved) {
  const auto hit_of_g = [this](std::uint64_t time, bool entry) {
    calls_.add({.time_ns = time,
                .stack_pointer = 900,
                .function = g,
                .return_address = 0x100,
                .entry = entry,
                .stops = true,
                .cost = {60, 6}});
  };
  enter_at_cost(1000, f, 1000);
  hit_of_g(1200, true);
  hit_of_g(1400, false);
  hit_of_g(2000, true);
  calls_.stop_callees(3000);
  calls_.spend({60, 6});
  leave_at_cost(9000, f, 1000);
  enter_at_cost(9500, f, 1000);
  leave_at_cost(9700, f, 1000);
  finish(10'000, false);
  EXPECT_EQ(count(f, CallState::complete), 2U);
  EXPECT_EQ(count(g, CallState::complete), 1U);
  EXPECT_EQ(count(g, CallState::incomplete), 1U);
  EXPECT_EQ(table_.latency[0], 8000U - 50 - 4 * 60); // 9,000 - 1,000, its own hits, those of g
  EXPECT_EQ(table_.latency[2], 3000U - 2000);
  EXPECT_EQ(table_.latency[3], 150U);
  EXPECT_TRUE(calls_.callers_of_unseen().empty());
}

// f calls g, and g calls f: when the inner f returns, g still runs, and nothing shows its end.
TEST_F(ProbeCallsTest, ACalleeBelowAnOpenCallEndsWithWhatIsKnownOfIt) {
  enter(1000, f, 1000);
  calls_.add({.time_ns = 2000,
              .stack_pointer = 900,
              .function = g,
              .return_address = 0x100,
              .entry = true,
              .stops = true});
  enter(2500, f, 800);
  calls_.stop_callees(3000);
  leave(4000, f, 800);
  leave(9000, f, 1000);
  finish(10'000, false);
  EXPECT_EQ(count(f, CallState::complete), 2U);
  EXPECT_EQ(count(g, CallState::incomplete), 1U);
  EXPECT_EQ(table_.latency, (std::vector<std::uint64_t>{8000, 2000, 1500}));
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
