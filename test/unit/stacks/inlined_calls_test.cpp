// Executions of inlined code, from branches written by hand in an address space without binaries:
// every address belongs to one function, so that calls nest as the branches do.
#include "stacks/calls/call_table.hpp"
#include "stacks/threads/inlined_calls.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace ptlens::stacks {
namespace {

using flow::Branch;
using flow::BranchKind;

constexpr FunctionId mix = 1000_fn; // the inlined function
constexpr std::uint8_t size = 2;    // of every branch instruction

// A place at [0x110, 0x120) and [0x124, 0x140), entry 0x110.
class InlinedCallsTest : public testing::Test {
protected:
  InlinedCallsTest()
      : places_(std::vector<CountedPlace>{{.binary = nullptr,
                                           .function = mix,
                                           .site = 0_site,
                                           .entry = 0x110,
                                           .ranges = {{0x110, 0x120}, {0x124, 0x140}},
                                           .home = {{0x100, 0x200}},
                                           .depth = 0}}) {
    space_.serial = 1;
    space_.code.push_back({.start = 0, .end = 0x1000, .bias = 0, .path = "program"});
  }

  // Adds branches, each 10 ns after the previous one and uncertain by ± `uncertainty_ns`.
  void feed(std::initializer_list<Branch> branches, std::uint32_t uncertainty_ns = 1) {
    CallTableBuilder calls;
    InlinedCalls inlined(places_, calls.thread(0), symbolizer_, facts_, context_switches_, 1);
    std::uint64_t time = 1000;
    for (Branch branch : branches) {
      branch.time_ns = time;
      branch.uncertainty_ns = uncertainty_ns;
      branch.from_size = branch.from == 0 ? 0 : size;
      inlined.add(branch, space_);
      time += 10;
    }
    inlined.finish(false);
    table_ = calls.take();
  }

  static Branch on(std::uint64_t to) { return {.to = to, .kind = BranchKind::on}; }
  static Branch call(std::uint64_t from, std::uint64_t to) {
    return {.from = from, .to = to, .kind = BranchKind::call};
  }
  static Branch ret(std::uint64_t from, std::uint64_t to) {
    return {.from = from, .to = to, .kind = BranchKind::ret};
  }
  static Branch cond(std::uint64_t from, std::uint64_t to) {
    return {.from = from, .to = to, .kind = BranchKind::cond};
  }
  static Branch gap() { return {.kind = BranchKind::gap, .gap = flow::GapReason::overflow}; }

  std::vector<std::uint32_t> executions() const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < table_.size(); ++row) {
      if (table_.function[row] == mix) {
        rows.push_back(row);
      }
    }
    return rows;
  }

  CallTable table_;
  Symbolizer symbolizer_;
  CodeFacts facts_;
  perfdata::ContextSwitches context_switches_{std::span<const perfdata::Switch>()};
  symbols::AddressSpaceVersion space_;
  CountedPlaces places_;
};

TEST_F(InlinedCallsTest, FallingThroughOverForeignInstructionsIsOneExecution) {
  feed({on(0x80), call(0x80, 0x100), ret(0x150, 0x82)});
  ASSERT_EQ(executions().size(), 1U);
  const std::uint32_t row = executions().front();
  EXPECT_EQ(table_.state[row], CallState::complete);
  // It is between the branches at 1010 ± 1 and 1020 ± 1: from 0 to 12 ns long.
  EXPECT_EQ(table_.start[row], 1015U);
  EXPECT_LE(table_.latency[row], 12U);
  EXPECT_GE(table_.latency[row] + table_.uncertainty[row], 12U);
  EXPECT_TRUE(places_.countable(0));
}

TEST_F(InlinedCallsTest, CallsOutAndBackAndLoopsInsideBelongToTheExecution) {
  feed({on(0x80), call(0x80, 0x100), call(0x114, 0x300), ret(0x310, 0x116), cond(0x130, 0x128),
        cond(0x130, 0x110), call(0x112, 0x300), ret(0x310, 0x114), ret(0x150, 0x82)});
  ASSERT_EQ(executions().size(), 1U);
  const std::uint32_t row = executions().front();
  std::size_t children = 0;
  for (std::uint32_t call = 0; call < table_.size(); ++call) {
    children += table_.parent[call] == CallIndex{row} ? 1 : 0;
  }
  EXPECT_EQ(children, 2U);
  EXPECT_EQ(table_.children[row], 20U);
}

TEST_F(InlinedCallsTest, EachReturnToTheEntryFromOutsideIsANewExecution) {
  feed({on(0x80), call(0x80, 0x100), cond(0x148, 0x110), cond(0x148, 0x108), cond(0x11e, 0x150),
        cond(0x152, 0x110), ret(0x13e, 0x82)});
  ASSERT_EQ(executions().size(), 4U);
  for (const std::uint32_t row : executions()) {
    EXPECT_EQ(table_.state[row], CallState::complete);
  }
  // The last begins and ends with branches, whose times are known to ± 1 ns.
  const std::uint32_t last = executions().back();
  EXPECT_EQ(table_.start[last], 1050U);
  EXPECT_EQ(table_.latency[last], 10U);
  EXPECT_EQ(table_.uncertainty[last], 2U);
}

TEST_F(InlinedCallsTest, GapsAndUntracedStartsMakeExecutionsIncomplete) {
  feed({on(0x118), cond(0x130, 0x110), cond(0x148, 0x110), gap(), on(0x128), cond(0x148, 0x110),
        cond(0x13e, 0x160)});
  std::vector<CallState> states;
  for (const std::uint32_t row : executions()) {
    states.push_back(table_.state[row]);
  }
  EXPECT_EQ(states,
            (std::vector{CallState::incomplete, CallState::incomplete, CallState::complete}));
}

TEST_F(InlinedCallsTest, RecursionThroughCallsNestsExecutions) {
  feed({on(0x80), call(0x80, 0x100), call(0x114, 0x100), call(0x114, 0x300), ret(0x310, 0x116),
        ret(0x150, 0x116), ret(0x150, 0x82)});
  ASSERT_EQ(executions().size(), 2U);
  const std::uint32_t inner = executions().back();
  // The inner one was made in the call that the outer one made.
  EXPECT_EQ(table_.parent[index_of(table_.parent[inner])], CallIndex{executions().front()});
  EXPECT_EQ(table_.inner[inner], 1U);
  EXPECT_EQ(table_.inner[executions().front()], 0U);
}

TEST_F(InlinedCallsTest, TimeOutsideUserCodeBelongsToTheExecutionAndTheCallAroundIt) {
  feed({on(0x80),
        call(0x80, 0x100),
        cond(0x108, 0x110),
        {.from = 0x112, .kind = BranchKind::syscall},
        on(0x114),
        cond(0x118, 0x150),
        {.from = 0x152, .kind = BranchKind::syscall},
        on(0x154),
        ret(0x156, 0x82)});
  ASSERT_EQ(executions().size(), 1U);
  const std::uint32_t row = executions().front();
  EXPECT_EQ(table_.outside[row], 10U); // the first of two system calls
  EXPECT_EQ(table_.outside[index_of(table_.parent[row])], 20U);
  EXPECT_EQ(table_.latency[row], 30U);
}

TEST_F(InlinedCallsTest, AnotherPathIntoAPlaceThanItsEntryMakesItNotCountable) {
  feed({on(0x80), call(0x80, 0x100), cond(0x104, 0x128), ret(0x150, 0x82)});
  EXPECT_FALSE(places_.countable(0));
}

} // namespace
} // namespace ptlens::stacks
