// Every part is done once, and all of them are cancelled with the one who asked.
#include "base/cancellation.hpp"
#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
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

TEST(Parallel, DoesTheFirstPartOnTheThreadOfTheCaller) {
  std::array<std::thread::id, 2> ids;
  do_parts(ids.size(), [&](std::size_t part) { ids.at(part) = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_NE(ids[1], std::this_thread::get_id());
}

TEST(Parallel, IsCancellableAsTheCallerIs) {
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

TEST(Parallel, MakesPartsOfEnoughAndNoMoreThanCores) {
  EXPECT_EQ(parts_of(0, 10), 1U);
  EXPECT_EQ(parts_of(19, 10), 1U);
  EXPECT_LE(parts_of(1'000'000, 10), std::max(1U, std::thread::hardware_concurrency()));
}

} // namespace
} // namespace ptlens
