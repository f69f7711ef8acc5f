// The comparison must find what differs, and judge only where the reference does.
#include "engine/trace/branch_comparison.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace ptlens::engine {
namespace {

using flow::Branch;
using flow::BranchKind;
using flow::GapReason;
using flow::Run;
using Event = flow::ReferenceDecoder::Event;

Branch jump(std::uint64_t from, std::uint64_t to) {
  return {.from = from, .to = to, .kind = BranchKind::jump};
}

Branch gap(GapReason reason) {
  return {.from = 0x99, .kind = BranchKind::gap, .gap = reason};
}

struct Contents { // of a run
  std::vector<Branch> branches;
  std::vector<flow::SyncMark> marks;
};

Contents run(std::vector<Branch> branches, std::vector<flow::SyncMark> marks) {
  return {std::move(branches), std::move(marks)};
}

std::deque<Run> runs(const std::vector<Contents>& all) {
  std::deque<Run> made;
  for (const Contents& each : all) {
    Run& run = made.emplace_back();
    run.pid = 7;
    run.tid = 8;
    run.branches = each.branches;
    run.marks = each.marks;
  }
  return made;
}

Event begin(std::uint64_t offset) {
  return {.kind = Event::Kind::synchronised, .offset = offset, .branch = {}, .error = {}};
}

Event lost() {
  return {.kind = Event::Kind::lost, .offset = 0, .branch = {}, .error = "no code"};
}

Event reports(const Branch& branch, std::uint64_t offset = 0) {
  return {.kind = Event::Kind::branch, .offset = offset, .branch = branch, .error = {}};
}

template <class T>
auto feed(std::deque<T>& queue) {
  return [&queue]() -> std::optional<T> {
    if (queue.empty()) {
      return std::nullopt;
    }
    T first = std::move(queue.front());
    queue.pop_front();
    return first;
  };
}

Verdict judge(const std::vector<Contents>& contents, std::deque<Event> reference,
              bool missing = true) {
  std::deque<Run> ours = runs(contents);
  Verdict verdict;
  compare(
      {feed(ours), feed(reference), [missing](const Run&, const Branch&) { return missing; }},
      [] { return false; }, verdict);
  return verdict;
}

TEST(BranchComparison, EqualStreamsHaveNoDifference) {
  const Branch indirect{.from = 3, .to = 4, .kind = BranchKind::indirect};
  const auto verdict = judge({run({jump(1, 2)}, {{0, 16}}), run({indirect}, {})},
                             {begin(16), reports(jump(1, 2)), reports(jump(3, 4))});
  EXPECT_FALSE(verdict.difference);
  EXPECT_EQ(verdict.compared, 2U);
  EXPECT_EQ(verdict.unjudged, 0U);
}

TEST(BranchComparison, ReportsTheFirstBranchThatDiffers) {
  const auto verdict = judge({run({jump(1, 2), jump(5, 6)}, {{0, 16}})},
                             {begin(16), reports(jump(1, 2)), reports(jump(5, 7), 0x40)});
  ASSERT_TRUE(verdict.difference);
  EXPECT_EQ(verdict.difference->offset, 0x40U);
  EXPECT_EQ(verdict.difference->tid, 8);
  EXPECT_EQ(verdict.difference->ours, "jump 0x5 -> 0x6");
  EXPECT_EQ(verdict.difference->reference, "jump 0x5 -> 0x7");
  EXPECT_EQ(verdict.difference->before, (std::vector<std::string>{"jump 0x1 -> 0x2"}));
}

TEST(BranchComparison, AMissingOrAdditionalBranchIsADifference) {
  const Branch decided{.from = 1, .to = 2, .kind = BranchKind::cond};
  EXPECT_TRUE(judge({run({}, {{0, 16}})}, {begin(16), reports(decided)}).difference);
  EXPECT_FALSE(judge({run({}, {{0, 16}})}, {begin(16), reports(jump(1, 2))}).difference);
  EXPECT_TRUE(judge({run({jump(1, 2)}, {{0, 16}})}, {begin(16)}).difference);
}

TEST(BranchComparison, BranchesAreNotJudgedWhereTheReferenceStopped) {
  const auto verdict =
      judge({run({jump(1, 2), jump(50, 60), jump(70, 80), jump(3, 4)}, {{0, 16}, {3, 4096}})},
            {begin(16), reports(jump(1, 2)), lost(), begin(4096), reports(jump(3, 4))});
  EXPECT_FALSE(verdict.difference);
  EXPECT_EQ(verdict.compared, 2U);
  EXPECT_EQ(verdict.unjudged, 2U);
  EXPECT_EQ(verdict.given_up, 1U);
}

TEST(BranchComparison, AReferenceThatStartedElsewhereWaitsForOurPsb) {
  const auto verdict =
      judge({run({jump(9, 9), jump(3, 4)}, {{1, 4096}})},
            {begin(16), reports(jump(1, 2)), lost(), begin(4096), reports(jump(3, 4))});
  EXPECT_FALSE(verdict.difference);
  EXPECT_EQ(verdict.compared, 1U);
  EXPECT_EQ(verdict.unjudged, 1U);
}

TEST(BranchComparison, OurDecoderMayStartBeforeThePsb) {
  const Branch on{.to = 3, .kind = BranchKind::on};
  EXPECT_FALSE(
      judge({run({jump(1, 2), jump(3, 4)}, {{0, 16}, {1, 4096}})},
            {begin(16), reports(jump(1, 2)), lost(), begin(4096), reports(on), reports(jump(3, 4))})
          .difference);
  EXPECT_TRUE(judge({run({jump(1, 2), jump(3, 4)}, {{0, 16}})},
                    {begin(16), reports(jump(1, 2)), reports(on), reports(jump(3, 4))})
                  .difference);
}

TEST(BranchComparison, OurGapIsAcceptedOnlyWhereCodeIsMissing) {
  const std::deque<Event> reference{begin(16), reports(jump(1, 2)), reports(jump(3, 4))};
  EXPECT_FALSE(
      judge({run({jump(1, 2), gap(GapReason::missing_code)}, {{0, 16}})}, reference).difference);
  EXPECT_TRUE(judge({run({jump(1, 2), gap(GapReason::missing_code)}, {{0, 16}})}, reference, false)
                  .difference);
  EXPECT_TRUE(
      judge({run({jump(1, 2), gap(GapReason::bad_trace)}, {{0, 16}})}, reference).difference);
}

} // namespace
} // namespace ptlens::engine
