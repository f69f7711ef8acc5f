// Small and large tables in memory from the allocator.
#include "base/large_pages.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ptlens {
namespace {

constexpr std::size_t page = std::size_t{2} << 20U;

TEST(LargePages, KeepTheValuesOfAGrowingTable) {
  std::vector<std::uint32_t, LargePages<std::uint32_t>> numbers;
  for (std::uint32_t number = 0; number < 2'000'000; ++number) {
    numbers.push_back(number);
  }
  for (std::uint32_t number = 0; number < numbers.size(); number += 999) {
    ASSERT_EQ(numbers[number], number);
  }
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}),
            std::uint64_t{1'999'999} * 1'000'000);
}

TEST(LargePages, AlignTablesOfMoreThanHalfAPage) {
  const auto begins_at_page = [](const auto& table) {
    return std::bit_cast<std::uintptr_t>(table.data()) % page == 0;
  };
  const std::vector<char, LargePages<char>> one(page / 2 + 1);
  const std::vector<char, LargePages<char>> other(3 * page + 1);
  EXPECT_TRUE(begins_at_page(one));
  EXPECT_TRUE(begins_at_page(other));
}

struct alignas(64) Line {
  std::uint64_t value = 7;
};

TEST(LargePages, KeepTheAlignmentOfSmallTables) {
  for (std::size_t count = 1; count < 100; ++count) {
    const std::vector<Line, LargePages<Line>> lines(count, Line{});
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(lines.data()) % alignof(Line), 0U);
    EXPECT_EQ(lines.back().value, 7U);
  }
}

TEST(LargePages, RefuseImpossibleSizes) {
  LargePages<std::uint64_t> pages;
  EXPECT_THROW((void)pages.allocate(SIZE_MAX / sizeof(std::uint64_t)), std::bad_alloc);
}

} // namespace
} // namespace ptlens
