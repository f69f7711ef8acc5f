// Hits of goroutines that move between threads, with a call table for each row.
#include "engine/probes/goroutine_rows.hpp"
#include "stacks/calls/call_table.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace ptlens::engine {
namespace {

using stacks::CallState;

class GoroutineRowsTest : public ::testing::Test {
protected:
  void enter(std::uint64_t time, std::uint64_t goroutine, std::int32_t tid,
             std::uint64_t place = 0 - 100ULL) {
    rows_.add({.pid = 1,
               .tid = tid,
               .number = goroutine,
               .hit = {.time_ns = time,
                       .stack_pointer = place,
                       .function = stacks::FunctionId{0},
                       .entry = true}});
  }
  void leave(std::uint64_t time, std::uint64_t goroutine, std::int32_t tid,
             std::uint64_t place = 0 - 100ULL) {
    rows_.add(
        {.pid = 1,
         .tid = tid,
         .number = goroutine,
         .hit = {.time_ns = time, .stack_pointer = place, .function = stacks::FunctionId{0}}});
  }
  void end(std::uint64_t time, std::uint64_t goroutine, std::int32_t tid) {
    rows_.add({.pid = 1, .tid = tid, .number = goroutine, .end = true, .hit = {.time_ns = time}});
  }
  stacks::CallTable finish(std::uint64_t time) {
    for (stacks::ProbeCalls& calls : calls_) {
      calls.finish(time, false);
    }
    return builder_.take();
  }

  stacks::CallTableBuilder builder_;
  const perfdata::ContextSwitches switches_{{}};
  std::deque<stacks::ProbeCalls> calls_;
  std::vector<std::int32_t> tids_; // by row
  GoroutineRows rows_{[this](std::size_t row) -> stacks::ProbeCalls& { return calls_[row]; },
                      [this](const GoroutineHit& hit) {
                        calls_.emplace_back(
                            builder_.thread(static_cast<std::uint32_t>(calls_.size())), switches_,
                            hit.tid);
                        tids_.push_back(hit.tid);
                        return calls_.size() - 1;
                      }};
};

TEST_F(GoroutineRowsTest, CallsOfGoroutinesOverlapAndMoveBetweenThreads) {
  enter(10, 7, 100);
  enter(20, 8, 100); // 7 waits
  leave(50, 7, 101);
  leave(80, 8, 100);
  const stacks::CallTable calls = finish(100);
  EXPECT_EQ(calls.latency, (std::vector<std::uint64_t>{40, 60}));
  EXPECT_EQ(calls.state, std::vector<CallState>(2, CallState::complete));
  EXPECT_EQ(tids_, (std::vector<std::int32_t>{100, 100}));
}

TEST_F(GoroutineRowsTest, RowsAreUsedAgainByTheThreadThatTheyBeganOn) {
  for (std::uint64_t goroutine = 1; goroutine <= 1000; ++goroutine) {
    enter(goroutine * 10, goroutine, 100);
    leave(goroutine * 10 + 5, goroutine, 101);
  }
  EXPECT_EQ(tids_, (std::vector<std::int32_t>{100}));
  EXPECT_EQ(finish(20000).size(), 1000U);
}

TEST_F(GoroutineRowsTest, AGoroutineThatEndsLeavesItsCallsUnwound) {
  enter(10, 7, 100);
  enter(15, 7, 100, 0 - 200ULL);
  end(20, 7, 100);
  enter(30, 8, 100); // in the same descriptor and stack
  leave(40, 8, 100);
  const stacks::CallTable calls = finish(1000);
  EXPECT_EQ(calls.latency, (std::vector<std::uint64_t>{10, 5, 10}));
  EXPECT_EQ(calls.state,
            (std::vector{CallState::unwound, CallState::unwound, CallState::complete}));
}

TEST_F(GoroutineRowsTest, AnExitWithoutAnEntryIsIncompleteAndClaimsNoTime) {
  leave(500, 7, 100);
  const stacks::CallTable calls = finish(1000);
  EXPECT_EQ(calls.latency, std::vector<std::uint64_t>{0});
  EXPECT_EQ(calls.state, std::vector<CallState>{CallState::incomplete});
}

TEST_F(GoroutineRowsTest, RowsAreFreeAgainAfterATimeWithoutProbes) {
  enter(10, 7, 100);
  for (stacks::ProbeCalls& calls : calls_) {
    calls.finish(20, false); // the end of the burst
  }
  rows_.clear();
  enter(110, 8, 100);
  leave(115, 8, 100);
  leave(120, 7, 101);
  const stacks::CallTable calls = finish(200);
  EXPECT_EQ(tids_, (std::vector<std::int32_t>{100, 101}));
  EXPECT_EQ(calls.latency, (std::vector<std::uint64_t>{10, 5, 0}));
  EXPECT_EQ(calls.state,
            (std::vector{CallState::incomplete, CallState::complete, CallState::incomplete}));
}

TEST_F(GoroutineRowsTest, TooManyAtOnceAreLeftOutAndCounted) {
  const std::uint64_t most = GoroutineRows::most_rows;
  for (std::uint64_t goroutine = 1; goroutine <= most + 3; ++goroutine) {
    enter(goroutine, goroutine, 100);
  }
  EXPECT_EQ(rows_.left_out(), 3U);
  EXPECT_EQ(calls_.size(), most);
}

} // namespace
} // namespace ptlens::engine
