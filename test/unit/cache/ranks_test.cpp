// Ranks of streams against the sorted stream.
#include "cache/writing/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace ptlens::cache {
namespace {

constexpr std::array<Share, 5> shares = {{{1, 1000}, {1, 2}, {9, 10}, {999, 1000}, {1, 1}}};

void expect_ranks(std::vector<std::uint64_t> values, std::uint64_t most) {
  Ranks ranks(shares, most);
  const std::size_t half = values.size() / 2; // given in two parts
  ranks.add(std::span(values).first(half));
  ranks.add(std::span(values).subspan(half));
  if (ranks.aim()) {
    ranks.add_again(std::span(values).subspan(half));
    ranks.add_again(std::span(values).first(half));
  }
  std::map<unsigned, std::uint64_t> widths;
  ranks.each_width([&](unsigned width, std::uint64_t count) { widths[width] += count; });
  const std::vector<std::uint64_t> found = ranks.values();
  std::ranges::sort(values);
  ASSERT_EQ(found.size(), shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    // The smallest value that at least that share does not exceed.
    const auto wanted = std::ranges::find_if(values, [&](const std::uint64_t& value) {
      const auto not_above = static_cast<std::uint64_t>(&value - values.data()) + 1;
      return not_above * shares[i].whole >= shares[i].part * values.size();
    });
    EXPECT_EQ(found[i], values.empty() ? 0 : *wanted) << i << " of " << values.size();
  }
  std::map<unsigned, std::uint64_t> expected;
  for (std::uint64_t value : values) {
    unsigned width = 0;
    for (; value != 0; value >>= 1U) {
      ++width;
    }
    ++expected[width];
  }
  EXPECT_EQ(widths, expected);
}

TEST(Ranks, AreThoseOfTheSortedValues) {
  std::mt19937_64 random(7);
  for (const std::size_t size : {0, 1, 2, 127, 129, 1000, 20'000}) {
    for (const unsigned bits : {0U, 1U, 5U, 6U, 7U, 12U, 17U, 18U, 40U, 64U}) {
      std::vector<std::uint64_t> values(size);
      for (std::uint64_t& value : values) {
        value = bits == 0 ? 0 : random() >> (64 - bits) >> (random() % 3);
      }
      expect_ranks(values, size);       // kept where it is short
      expect_ranks(values, UINT64_MAX); // counted
    }
  }
}

// As two threads look again: one into a copy.
TEST(Ranks, ReadAgainInSubsetsAreTheSame) {
  std::mt19937_64 random(8);
  for (const unsigned bits : {12U, 17U, 18U, 40U, 64U}) {
    std::vector<std::uint64_t> values(20'000);
    for (std::uint64_t& value : values) {
      value = random() >> (64 - bits) >> (random() % 3);
    }
    Ranks whole(shares, UINT64_MAX);
    whole.add(values);
    const bool again = whole.aim();
    EXPECT_EQ(again, bits > 12) << bits;
    Ranks copy = whole;
    copy.add_again(std::span(values).first(7777));
    whole.add_again(std::span(values).subspan(7777));
    whole.add_again(copy);
    const std::vector<std::uint64_t> found = whole.values();
    std::ranges::sort(values);
    const std::vector<std::uint64_t> expected = {values[19], values[9'999], values[17'999],
                                                 values[19'979], values[19'999]};
    EXPECT_EQ(found, expected) << bits;
  }
}

TEST(Ranks, OfEqualAndGreatestValues) {
  expect_ranks(std::vector<std::uint64_t>(10'000, UINT64_MAX), UINT64_MAX);
  expect_ranks(std::vector<std::uint64_t>(10'000, 65), UINT64_MAX);
}

} // namespace
} // namespace ptlens::cache
