// All work is done in the order of submission, while the submitter continues.
#include "base/ordered_worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

namespace ptlens {
namespace {

TEST(OrderedWorker, KeepsTheOrderAndFinishesAll) {
  std::vector<int> done; // the worker's until finish() returns
  {
    OrderedWorker worker(3);
    for (int i = 0; i < 1000; ++i) {
      worker.submit([&done, value = std::make_unique<int>(i)] { done.push_back(*value); });
    }
    worker.finish();
    EXPECT_EQ(done.size(), 1000U);
  }
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(done, expected);
}

TEST(OrderedWorker, BeginsDeferredWorkWhenTheQueueIsHalfFullAndAtTheEnd) {
  std::atomic<int> done = 0;
  OrderedWorker worker(4);
  const auto later = [&] { worker.submit([&done] { ++done; }, OrderedWorker::Begin::later); };
  worker.finish(); // without any work
  later();
  worker.finish();
  EXPECT_EQ(done, 1);
  later();
  later(); // half of the limit
  while (done != 3) {
    std::this_thread::yield();
  }
  later();
  worker.submit([&done] { ++done; });
  while (done != 5) {
    std::this_thread::yield();
  }
  for (int i = 0; i < 1000; ++i) {
    later();
  }
  worker.finish();
  EXPECT_EQ(done, 1005);
}

TEST(OrderedWorker, UsesItsOwnThread) {
  OrderedWorker worker(1);
  std::thread::id id;
  worker.submit([&id] { id = std::this_thread::get_id(); });
  worker.finish();
  EXPECT_NE(id, std::thread::id());
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(OrderedWorker, LimitsTheNumberOfWaitingFunctions) {
  constexpr int most = 2;
  std::atomic<bool> go = false;
  std::atomic<int> submitted = 0;
  OrderedWorker worker(most);
  std::thread giver([&] {
    for (int i = 0; i < 10; ++i) {
      worker.submit([&go] { go.wait(false); });
      ++submitted;
    }
  });
  while (submitted < most) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_LE(submitted, most + 1); // and the one in progress
  go = true;
  go.notify_all();
  giver.join();
  worker.finish();
  EXPECT_EQ(submitted, 10);
}

} // namespace
} // namespace ptlens
