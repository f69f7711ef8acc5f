// The filter of wakings. Its meaning is the kernel's: Documentation/trace/events.rst.
#include "record/probes/events/thread_filter.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ptlens::record {
namespace {

TEST(ThreadFilter, NamesOneThread) {
  EXPECT_EQ(filter_of_outside_wakings({7}), "(pid==7)&&common_pid!=7");
}

TEST(ThreadFilter, NeighboursAreARange) {
  EXPECT_EQ(filter_of_outside_wakings({3, 10, 11, 12}),
            "(pid==3||(pid>=10&&pid<=12))&&common_pid!=3&&(common_pid<10||common_pid>12)");
}

// 2,000 pairs of threads, {10, 11}, {20, 21} …, need 2,000 ranges, which are too many. Eight
// numbers lie between two pairs, so that only one range from 10 to 20,001 is left.
TEST(ThreadFilter, TooManyRangesBecomeWiderOnes) {
  std::set<std::int32_t> threads;
  for (std::int32_t at = 1; at <= 2'000; ++at) {
    threads.insert(10 * at);
    threads.insert(10 * at + 1);
  }
  EXPECT_EQ(filter_of_outside_wakings(threads), "(pid>=10&&pid<=20001)");
}

// Ranges fit, but not twice: wakings by the threads are recorded twice then.
TEST(ThreadFilter, TheWokenThreadsCountMoreThanTheWakers) {
  std::set<std::int32_t> threads;
  std::string expected;
  for (std::int32_t tid = 10'000; tid < 10'500; tid += 2) {
    threads.insert(tid);
    expected += (expected.empty() ? "pid==" : "||pid==") + std::to_string(tid);
  }
  ASSERT_LT(expected.size(), longest_filter);
  EXPECT_EQ(filter_of_outside_wakings(threads), expected);
}

// Far threads stay apart while near ones are joined.
TEST(ThreadFilter, NarrowGapsAreJoinedFirst) {
  std::set<std::int32_t> threads = {1'000'000};
  for (std::int32_t tid = 10'000; tid < 12'000; tid += 2) {
    threads.insert(tid);
  }
  EXPECT_EQ(filter_of_outside_wakings(threads), "(pid>=10000&&pid<=11998)||pid==1000000");
}

} // namespace
} // namespace ptlens::record
