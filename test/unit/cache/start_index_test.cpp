// The index of starts, with times that were computed by hand.
#include "cache/format/start_index.hpp"

#include <gtest/gtest.h>

namespace ptlens::cache {
namespace {

TEST(StartIndexes, GiveTheLineBetweenTwoTimes) {
  StartIndexBuilder builder;
  builder.add(0, 1'000);
  builder.add(33, 1'320); // the first call that closed of 32 to 63
  builder.add(32, 1'310);
  builder.add(64, 1'384);
  ASSERT_TRUE(builder.index().covers(63));
  EXPECT_FALSE(builder.index().covers(64));
  EXPECT_EQ(builder.index().about(0), 1'000U);
  EXPECT_EQ(builder.index().about(16), 1'160U); // half of 320
  EXPECT_EQ(builder.index().about(33), 1'322U); // 1/32 of 64
}

TEST(StartIndexes, DoNotChangeWhatTheyCover) {
  StartIndexBuilder builder;
  builder.add(5, 100);
  builder.add(6, 164);
  builder.cover(6);
  ASSERT_TRUE(builder.index().covers(31));
  const std::uint64_t before = builder.index().about(31);
  EXPECT_EQ(before, 162U); // 31/32 of 64
  builder.add(32, 900);
  EXPECT_EQ(builder.index().about(31), before);
}

TEST(StartIndexes, TakeNoMemoryForNumbersFarAhead) {
  StartIndexBuilder builder;
  builder.add(0, 1);
  builder.add(UINT32_MAX, 2);
  builder.cover(UINT32_MAX);
  EXPECT_FALSE(builder.index().covers(UINT32_MAX));
  EXPECT_EQ(builder.groups().size(), 1U);
}

TEST(StartIndexes, AnswerAnythingForWhatTheyDoNotCover) {
  EXPECT_EQ(StartIndex().about(7), 0U);
  (void)StartIndex().about(UINT32_MAX);
}

} // namespace
} // namespace ptlens::cache
