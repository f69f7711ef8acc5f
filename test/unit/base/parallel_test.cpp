// Every part is done once, on no more threads than there are processors, and cancelling the caller
// cancels all parts.
#include "base/cancellation.hpp"
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <sched.h>
#include <thread>

namespace ptlens {
namespace {

TEST(Parallel, DoesEveryPartOnce) {
  std::array<std::atomic<int>, 7> done{};
  do_parts(done.size(), [&](std::size_t part) { ++done.at(part); });
  for (const auto& count : done) {
    EXPECT_EQ(count, 1);
  }
}

TEST(Parallel, RunsTheFirstPartOnTheCallersThread) {
  std::array<std::thread::id, 2> ids;
  do_parts(ids.size(), [&](std::size_t part) { ids.at(part) = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], std::this_thread::get_id());
}

TEST(Parallel, SharesTheCallersProgress) {
  Progress progress;
  progress.cancel();
  std::atomic<int> asked = 0;
  const auto count = [&](std::size_t /*part*/) { asked += cancel_asked() ? 1 : 0; };
  do_parts(3, count);
  EXPECT_EQ(asked, 0);
  const Cancellable scope(progress);
  do_parts(3, count);
  EXPECT_EQ(asked, 3);
}

TEST(Parallel, MakesPartsOfTheLeastSizeAndAtMostOnePerProcessor) {
  EXPECT_EQ(parts_of(0, 10), 1U);
  EXPECT_EQ(parts_of(19, 10), 1U);
  EXPECT_LE(parts_of(1'000'000, 10), std::max(1U, std::thread::hardware_concurrency()));
}

TEST(Cores, AreTheUsableProcessors) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &all)) {
    ++first;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(cores(), 1U);
  EXPECT_EQ(parts_of(1'000'000, 10), 1U);
  EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(cores(), static_cast<unsigned>(CPU_COUNT(&all)));
}

} // namespace
} // namespace ptlens
