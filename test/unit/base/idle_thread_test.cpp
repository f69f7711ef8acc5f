// A thread that gives way to all others still ends when it is waited for.
#include "base/idle_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace ptlens {
namespace {

TEST(IdleThread, RunsOnlyWhereNothingElseDoes) {
  const auto policy = std::make_shared<std::atomic<int>>(-1);
  IdleThread thread([policy] { *policy = ::sched_getscheduler(0); });
  while (*policy == -1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  while (!thread.finish(std::chrono::seconds(1))) {
  }
  EXPECT_EQ(*policy, SCHED_IDLE);
  EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
}

TEST(IdleThread, ReportsTheTimeThatItTook) {
  static constexpr std::chrono::milliseconds work{20};
  IdleThread thread([] {
    const auto clock = [] {
      timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
    };
    while (clock() < work) {
    }
  });
  while (!thread.finish(std::chrono::seconds(1))) {
  }
  EXPECT_GE(thread.cpu_time(), work);
}

TEST(IdleThread, MayOutliveTheObject) {
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto may_end = std::make_shared<std::atomic<bool>>(false);
  {
    const IdleThread thread([ended, may_end] {
      while (!*may_end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      *ended = true;
    });
  }
  EXPECT_FALSE(*ended);
  *may_end = true;
  while (!*ended) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Pace, SleepsWhereTheThreadDidNotRun) {
  const std::atomic<bool> stopped = false;
  const auto cpu_time = [] { return std::clock(); };
  Pace pace;
  pace.give_way(stopped);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t work = cpu_time() + CLOCKS_PER_SEC / 100;
  while (cpu_time() < work) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(30)); // as if another program ran
  pace.give_way(stopped);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100));
}

} // namespace
} // namespace ptlens
