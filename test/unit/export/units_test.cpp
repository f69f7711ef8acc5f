// Figures for people: units, rounding over their borders, separators.
#include "export/text/units.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>
#include <string>

namespace ptlens::exporting {
namespace {

TEST(Units, DurationHasThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(duration(0), "0 ns");
  EXPECT_EQ(duration(1), "1 ns");
  EXPECT_EQ(duration(42), "42 ns");
  EXPECT_EQ(duration(42.5), "42.5 ns");
  EXPECT_EQ(duration(0.6667), "0.67 ns");
  EXPECT_EQ(duration(999), "999 ns");
  EXPECT_EQ(duration(1234), "1.23 µs");
  EXPECT_EQ(duration(12'340), "12.3 µs");
  EXPECT_EQ(duration(123'400), "123 µs");
  EXPECT_EQ(duration(5'000'000), "5.00 ms");
  EXPECT_EQ(duration(1e9), "1.00 s");
  EXPECT_EQ(duration(1.234e12), "1,234 s");
  EXPECT_EQ(duration(-1234), "-1.23 µs");
  EXPECT_EQ(duration(std::numeric_limits<double>::quiet_NaN()), "unknown");
}

TEST(Units, RoundingMovesOnToTheNextUnit) {
  EXPECT_EQ(duration(999.4), "999 ns");
  EXPECT_EQ(duration(999.6), "1.00 µs");
  EXPECT_EQ(duration(9.996), "10.0 ns");
  EXPECT_EQ(duration(99.96), "100 ns");
  EXPECT_EQ(duration(999'600), "1.00 ms");
  EXPECT_EQ(duration(999'499), "999 µs");
}

// The extension is tested against the same table.
TEST(Units, FiguresHaveTheirUncertaintyWhereItMatters) {
  std::ifstream file(PTLENS_SOURCE_ROOT "/test/tables/figures.json");
  const auto table = nlohmann::json::parse(file);
  for (const auto& row : table["figures"]) {
    EXPECT_EQ(figure(row[0], row[1]), row[2].get<std::string>()) << row.dump();
  }
  for (const auto& row : table["slower"]) {
    EXPECT_EQ(slower(row[0]), row[1].get<std::string>()) << row.dump();
  }
}

TEST(Units, CountsAreGrouped) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1'000), "1,000");
  EXPECT_EQ(count(1'234'567), "1,234,567");
  EXPECT_EQ(count(1, "call"), "1 call");
  EXPECT_EQ(count(10'000, "call"), "10,000 calls");
  EXPECT_EQ(count(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(Units, Percentages) {
  EXPECT_EQ(percentage(0), "0 %");
  EXPECT_EQ(percentage(0.01), "< 0.1 %");
  EXPECT_EQ(percentage(0.34), "0.3 %");
  EXPECT_EQ(percentage(12.4), "12 %");
  EXPECT_EQ(percentage(250), "250 %");
  EXPECT_EQ(percentage(999.4), "999 %");
  EXPECT_EQ(percentage(12302.4), "12,302 %");
}

TEST(Units, Bytes) {
  EXPECT_EQ(bytes(512), "512 B");
  EXPECT_EQ(bytes(1000), "1,000 B");
  EXPECT_EQ(bytes(1536), "1.50 KiB");
  EXPECT_EQ(bytes(12 << 20), "12.0 MiB");
}

TEST(Units, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\x7f\n"), "a?[31mb??");
  EXPECT_EQ(printable("x\xc2\x9by"), "x?y");
  EXPECT_EQ(printable("µs"), "µs");
  EXPECT_EQ(printable("\xc2"), "\xc2");
}

TEST(Units, BaseName) {
  EXPECT_EQ(base_name("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(base_name("app"), "app");
  EXPECT_EQ(base_name("dir/"), "dir/");
}

// The extension's unit tests read the same table.
TEST(Duration, EqualsTheSharedTable) {
  std::ifstream file(PTLENS_SOURCE_ROOT "/test/tables/durations.json");
  const auto table = nlohmann::json::parse(file);
  EXPECT_GT(table.size(), 50U);
  for (const auto& row : table) {
    EXPECT_EQ(duration(row[0].get<double>()), row[1].get<std::string>()) << row[0];
  }
}

} // namespace
} // namespace ptlens::exporting
