// The calls that OpenCalls hands on, and the final order of the table.
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/open_calls.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ptlens::stacks {
namespace {

struct Taken final : CallSink {
  std::vector<ClosedCall> calls;
  void take(const ClosedCall& call) override { calls.push_back(call); }
};

TEST(Order, PutsLateParentsBeforeTheirChildren) {
  CallTableBuilder calls;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls open_calls(calls.thread(0), context_switches, 1);
  // Tracing begins inside c; c returns into b, b into a; b had called d meanwhile.
  const OpenCallId c = open_calls.open(2_fn, OpenCallId::none, SiteId::none, 100, false);
  const OpenCallId b = open_calls.open(1_fn, OpenCallId::none, SiteId::none, 100, false);
  open_calls.reparent(c, b);
  open_calls.close(c, 110, CallState::incomplete);
  const OpenCallId d = open_calls.open(3_fn, b, SiteId::none, 120, false);
  open_calls.close(d, 130, CallState::complete);
  const OpenCallId a = open_calls.open(0_fn, OpenCallId::none, SiteId::none, 100, false);
  open_calls.reparent(b, a);
  open_calls.close(b, 140, CallState::incomplete);
  open_calls.close(a, 200, CallState::incomplete);
  const CallTable table = calls.take();
  EXPECT_EQ(table.function, (std::vector{0_fn, 1_fn, 2_fn, 3_fn}));
  EXPECT_EQ(table.parent, (std::vector{CallIndex::none, 0_row, 1_row, 1_row}));
  // Self times sum to the whole: 200 - 100.
  std::uint64_t self = 0;
  for (std::size_t call = 0; call < table.size(); ++call) {
    self += table.self(call);
  }
  EXPECT_EQ(self, 100U);
}

TEST(Order, KeepsThreadsApartAndStartsAscending) {
  CallTableBuilder calls;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls one(calls.thread(1), context_switches, 11);
  OpenCalls zero(calls.thread(0), context_switches, 10);
  const auto late = one.open(5_fn, OpenCallId::none, SiteId::none, 10, false);
  const auto early = zero.open(6_fn, OpenCallId::none, SiteId::none, 50, false);
  const auto inner = zero.open(7_fn, early, SiteId::none, 50, false);
  zero.close(inner, 60, CallState::complete);
  zero.close(early, 60, CallState::complete);
  one.close(late, 20, CallState::complete);
  const CallTable table = calls.take();
  EXPECT_EQ(table.function, (std::vector{6_fn, 7_fn, 5_fn}));
  EXPECT_EQ(table.parent, (std::vector{CallIndex::none, 0_row, CallIndex::none}));
}

TEST(Order, InnerActivationsAreInsideAnotherActivationOfTheirFunction) {
  CallTableBuilder calls;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls open_calls(calls.thread(0), context_switches, 1);
  const OpenCallId root = open_calls.open(0_fn, OpenCallId::none, SiteId::none, 100, false);
  const OpenCallId first = open_calls.open(1_fn, root, SiteId::none, 100, false);
  const OpenCallId recursive = open_calls.open(1_fn, first, SiteId::none, 110, false);
  open_calls.close(recursive, 120, CallState::complete);
  open_calls.close(first, 150, CallState::complete);
  // One after the other, in no time, the second with another inside.
  open_calls.close(open_calls.open(1_fn, root, SiteId::none, 150, false), 150, CallState::complete);
  const OpenCallId within = open_calls.open(1_fn, root, SiteId::none, 150, false);
  open_calls.close(open_calls.open(1_fn, within, SiteId::none, 150, false), 150,
                   CallState::complete);
  open_calls.close(within, 150, CallState::complete);
  const OpenCallId coroutine = open_calls.open(1_fn, OpenCallId::none, SiteId::none, 180, false);
  const OpenCallId another =
      open_calls.open(1_fn, OpenCallId::none, SiteId::none, 190, false); // on a third stack
  open_calls.close(root, 200, CallState::complete);
  open_calls.close(coroutine, 220, CallState::complete);
  open_calls.close(another, 230, CallState::complete);
  EXPECT_EQ(calls.take().inner, (std::vector<std::uint8_t>{0, 0, 1, 0, 0, 1, 0, 1}));
}

// Most is known when a call closes; a call that became known afterwards is late.
TEST(OpenCalls, MarksInnerActivationsAndLateCallers) {
  Taken taken;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls open_calls(taken, context_switches, 1);
  const OpenCallId child = open_calls.open(1_fn, OpenCallId::none, SiteId::none, 100, false);
  open_calls.close(open_calls.open(2_fn, child, SiteId::none, 110, false), 120,
                   CallState::complete);
  const OpenCallId found = open_calls.open(2_fn, OpenCallId::none, SiteId::none, 100, false);
  open_calls.reparent(child, found);
  open_calls.close(child, 130, CallState::incomplete);
  open_calls.close(open_calls.open(2_fn, found, SiteId::none, 140, false), 150,
                   CallState::complete);
  open_calls.close(found, 160, CallState::incomplete);
  ASSERT_EQ(taken.calls.size(), 4U);
  EXPECT_FALSE(taken.calls[0].inner); // not known then
  EXPECT_EQ(taken.calls[1].caller, 2_fn);
  EXPECT_EQ(taken.calls[1].parent, taken.calls[3].order);
  EXPECT_TRUE(taken.calls[2].inner);
  EXPECT_FALSE(taken.calls[2].late);
  EXPECT_TRUE(taken.calls[3].late);
}

// A stub calls the dynamic linker, which calls strcmp, to find out that the stub leads to strcmp.
TEST(OpenCalls, CallsFromAStubAreHandedOnOnceItsFunctionIsKnown) {
  Taken taken;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls open_calls(taken, context_switches, 1);
  constexpr FunctionId stub = 7_fn;
  constexpr FunctionId linker = 8_fn;
  constexpr FunctionId strcmp = 9_fn;
  const OpenCallId call = open_calls.open(stub, OpenCallId::none, SiteId::none, 100, false);
  open_calls.set_provisional(call);
  const OpenCallId fixup = open_calls.open(linker, call, SiteId::none, 110, false);
  open_calls.close(open_calls.open(strcmp, fixup, SiteId::none, 112, false), 114,
                   CallState::complete);
  open_calls.close(fixup, 120, CallState::complete);
  EXPECT_TRUE(taken.calls.empty());
  open_calls.rename(call, strcmp);
  ASSERT_EQ(taken.calls.size(), 2U);
  EXPECT_EQ(taken.calls[0].caller, linker);
  EXPECT_TRUE(taken.calls[0].inner);
  EXPECT_EQ(taken.calls[1].caller, strcmp);
  open_calls.close(call, 130, CallState::complete);
  ASSERT_EQ(taken.calls.size(), 3U);
  EXPECT_EQ(taken.calls[2].function, strcmp);
  EXPECT_FALSE(taken.calls[2].inner);
  EXPECT_EQ(taken.calls[2].children, 10U);
}

TEST(OpenCalls, TimeOutsideUserCodeBelongsToTheCallersToo) {
  Taken taken;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls open_calls(taken, context_switches, 1);
  const OpenCallId outer = open_calls.open(1_fn, OpenCallId::none, SiteId::none, 100, false);
  open_calls.spend_outside(outer, 5);
  const OpenCallId inner = open_calls.open(2_fn, outer, SiteId::none, 110, false);
  open_calls.spend_outside(inner, 30);
  open_calls.close(inner, 150, CallState::complete);
  open_calls.close(outer, 160, CallState::complete);
  EXPECT_EQ(taken.calls[0].outside, 30U);
  EXPECT_EQ(taken.calls[1].outside, 35U);
}

TEST(OpenCalls, UncertaintyOfALatencyIsTheSumOfBothEnds) {
  Taken taken;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls open_calls(taken, context_switches, 1);
  open_calls.set_uncertainty(7);
  const OpenCallId outer = open_calls.open(1_fn, OpenCallId::none, SiteId::none, 100, false);
  open_calls.set_uncertainty(2);
  const OpenCallId inner = open_calls.open(2_fn, outer, SiteId::none, 110, false);
  open_calls.set_uncertainty(4'294'967'290);
  open_calls.close(inner, 120, CallState::complete);
  open_calls.set_uncertainty(3);
  open_calls.close(outer, 130, CallState::complete);
  EXPECT_EQ(taken.calls[0].uncertainty, 4'294'967'292U);
  EXPECT_EQ(taken.calls[1].uncertainty, 10U);
}

} // namespace
} // namespace ptlens::stacks
