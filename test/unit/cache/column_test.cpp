// Columns of any width, with and without exceptions, and of hostile bytes.
#include "cache/format/bit_packing.hpp"
#include "cache/format/column.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace ptlens::cache {
namespace {

using Values = std::vector<std::uint64_t>;

std::vector<std::byte> written(const Values& values) {
  std::vector<std::byte> bytes(most_column_bytes(values.size()));
  const ColumnPlan plan = plan_column(values);
  bytes.resize(static_cast<std::size_t>(write_column(values, plan, bytes.data()) - bytes.data()));
  EXPECT_EQ(bytes.size(), plan.bytes);
  return bytes;
}

std::optional<Column> parsed(std::vector<std::byte>& bytes, std::size_t count) {
  const std::size_t size = bytes.size();
  bytes.resize(size + column_padding);
  std::size_t at = 0;
  auto column = Column::parse(std::span(bytes).first(size), at, count);
  if (column) {
    EXPECT_LE(at, size);
  }
  return column;
}

void expect_restored(const Values& values) {
  std::vector<std::byte> bytes = written(values);
  const auto column = parsed(bytes, values.size());
  ASSERT_TRUE(column.has_value());
  Values all(values.size());
  column->read(std::span(all));
  EXPECT_EQ(all, values);
  for (std::size_t first = 0; first < values.size(); first += 1 + first / 3) {
    Values some(std::min<std::size_t>(values.size() - first, 19));
    column->read(std::span(some), first);
    EXPECT_EQ(some, Values(values.begin() + static_cast<std::ptrdiff_t>(first),
                           values.begin() + static_cast<std::ptrdiff_t>(first + some.size())));
    EXPECT_EQ((*column)[first], values[first]);
  }
  const Column::Bounds bounds = column->bounds();
  for (const std::uint64_t value : values) {
    EXPECT_TRUE(bounds.least <= value && value <= bounds.most);
  }
}

TEST(Columns, RestoreValuesOfEveryWidth) {
  std::mt19937_64 random(1);
  for (unsigned width = 0; width <= 64; ++width) {
    for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 64U, 300U, 513U}) {
      Values values(count);
      for (std::uint64_t& value : values) {
        value = width == 0 ? 42 : random() >> (64 - width);
      }
      expect_restored(values);
    }
  }
}

TEST(Columns, RestoreExceptionsAndNegativeNumbers) {
  std::mt19937_64 random(2);
  for (unsigned width = 0; width <= 63; ++width) {
    Values values(512);
    for (std::uint64_t& value : values) {
      value = (random() & 7) - 3; // wraps: some are negative
      if (random() % 40 == 0) {
        value += std::uint64_t{1} << width;
      }
    }
    expect_restored(values);
  }
  expect_restored({0, 0, 0, 0, 0, 0, 0, 0, 0, UINT64_MAX});
  expect_restored({0, INT64_MAX, std::uint64_t{1} << 63U});
}

// 500 of 512 values need 3 bits: 192 bytes. With the other 12 at 60 bits, a plain column would take
// 3,840 bytes. Each exception needs 9 bits for its position and 57 high bits: 13.5 + 85.5 bytes.
TEST(Columns, FewLargeValuesCostLittle) {
  Values values(512);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 43 == 42 ? (std::uint64_t{1} << 60U) - 1 : i % 8;
  }
  EXPECT_LE(written(values).size(), 192U + 14 + 86 + 5);
}

TEST(Columns, AreCutToSmallerTypes) {
  const Values values = {1, 2, 300, std::uint64_t{1} << 40U};
  std::vector<std::byte> bytes = written(values);
  const auto column = parsed(bytes, values.size());
  ASSERT_TRUE(column.has_value());
  std::vector<std::uint8_t> small(4);
  column->read(std::span(small));
  EXPECT_EQ(small, (std::vector<std::uint8_t>{1, 2, 44, 0}));
  std::vector<std::uint32_t> middle(4);
  column->read(std::span(middle));
  EXPECT_EQ(middle, (std::vector<std::uint32_t>{1, 2, 300, 0}));
}

TEST(Columns, ThatAreCutOffAreRefused) {
  Values values(300, 5);
  values[7] = UINT64_MAX / 2;
  values[8] = 9;
  const std::vector<std::byte> bytes = written(values);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(parsed(cut, values.size()).has_value()) << size;
  }
}

TEST(Columns, OfRandomBytesAreRefusedOrRead) {
  std::mt19937_64 random(3);
  for (unsigned round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(1 + random() % 90);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random());
    }
    const std::size_t count = random() % 40;
    if (const auto column = parsed(bytes, count)) {
      Values values(count);
      column->read(std::span(values));
    }
  }
}

} // namespace
} // namespace ptlens::cache
