// Rows removed from the table: their children and times belong to their parents.
#include "stacks/calls/call_table.hpp"
#include "stacks/calls/remove_calls.hpp"
#include "stacks/threads/open_calls.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks {
namespace {

TEST(RemoveCalls, GivesChildrenAndSelfTimeToTheParent) {
  CallTableBuilder calls;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls log(calls.thread(0), context_switches, 1);
  // root [0, 100) > gone [10, 90) > gone [20, 80) > kept [30, 40), which was outside for 3 ns; the
  // outer removed call has another child, [82, 85).
  const OpenCallId root = log.open(0_fn, OpenCallId::none, SiteId::none, 0, false);
  const OpenCallId outer = log.open(1_fn, root, SiteId::none, 10, false);
  const OpenCallId inner = log.open(2_fn, outer, SiteId::none, 20, false);
  const OpenCallId kept = log.open(3_fn, inner, SiteId::none, 30, false);
  log.spend_outside(kept, 3);
  log.close(kept, 40, CallState::complete);
  log.close(inner, 80, CallState::complete);
  const OpenCallId second = log.open(4_fn, outer, SiteId::none, 82, false);
  log.close(second, 85, CallState::unwound);
  log.close(outer, 90, CallState::complete);
  log.close(root, 100, CallState::complete);
  CallTable table = calls.take();
  remove_calls(table, {0, 1, 1, 0, 0});
  EXPECT_EQ(table.function, (std::vector{0_fn, 3_fn, 4_fn}));
  EXPECT_EQ(table.parent, (std::vector{CallIndex::none, 0_row, 0_row}));
  EXPECT_EQ(table.latency, (std::vector<std::uint64_t>{100, 10, 3}));
  EXPECT_EQ(table.children, (std::vector<std::uint64_t>{13, 0, 0}));
  EXPECT_EQ(table.outside, (std::vector<std::uint64_t>{3, 3, 0}));
  EXPECT_EQ(table.state[2], CallState::unwound);
}

TEST(RemoveCalls, DoesNotChangeATableWithNothingToRemove) {
  CallTableBuilder calls;
  const perfdata::ContextSwitches context_switches({});
  OpenCalls log(calls.thread(0), context_switches, 1);
  const OpenCallId root = log.open(7_fn, OpenCallId::none, SiteId::none, 5, false);
  log.close(root, 9, CallState::complete);
  CallTable table = calls.take();
  remove_calls(table, {0});
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.latency[0], 4U);
}

} // namespace
} // namespace ptlens::stacks
