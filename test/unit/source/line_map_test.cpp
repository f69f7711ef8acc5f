// Lines of a text in a later one: worked out by hand, and what must hold of any two texts.
#include "source/line_map.hpp"
#include "source/text_lines.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace ptlens::source {
namespace {

LineMap map_of(const std::string& before, const std::string& now) {
  return {text_lines(before).lines, text_lines(now).lines};
}

// Where each earlier line is: its number, negative where it is not the same any more, 0: removed.
std::vector<int> numbers(const LineMap& map, std::uint32_t lines) {
  std::vector<int> found;
  for (std::uint32_t line = 1; line <= lines; ++line) {
    const auto now = map.now(line);
    found.push_back(!now        ? 0
                    : now->same ? static_cast<int>(now->number)
                                : -static_cast<int>(now->number));
  }
  return found;
}

TEST(LineMap, FollowsInsertedAndRemovedLines) {
  EXPECT_EQ(numbers(map_of("a\nb\nc", "x\ny\na\nb\nc"), 3), (std::vector{3, 4, 5}));
  EXPECT_EQ(numbers(map_of("a\nb\nc", "a\nc"), 3), (std::vector{1, 0, 2}));
  EXPECT_EQ(numbers(map_of("a\nb\nc\nd", "a\nnew\nb\nc\nother\nd"), 4), (std::vector{1, 3, 4, 6}));
}

TEST(LineMap, PairsLinesThatWereRewrittenInPlace) {
  EXPECT_EQ(numbers(map_of("a\nb\nc", "a\nB\nc"), 3), (std::vector{1, -2, 3}));
  EXPECT_EQ(numbers(map_of("a\nb\nc", "a\nB\nnew\nc"), 3), (std::vector{1, 0, 4}));
}

TEST(LineMap, IsNotMisledByRepeatedLines) {
  const std::string before = "f() {\n  x;\n}\n\ng() {\n  y;\n}\n";
  const std::string now = "h() {\n  z;\n}\n\nf() {\n  x;\n}\n\ng() {\n  y;\n}\n";
  EXPECT_EQ(numbers(map_of(before, now), 7), (std::vector{5, 6, 7, 8, 9, 10, 11}));
}

TEST(LineMap, FindsIntactFunctions) {
  const LineMap map =
      map_of("f() {\n  x;\n}\ng() {\n  y;\n}\n", "f() {\n  x;\n}\ng() {\n  y;\n  z;\n}\n");
  EXPECT_TRUE(map.intact(1, 3));
  EXPECT_FALSE(map.intact(4, 6));
  EXPECT_FALSE(map.intact(1, 6));
}

TEST(TextLines, IgnoreIndentation) {
  EXPECT_EQ(line_sums("  a  b\r").loose, line_sums("\ta b").loose);
  EXPECT_NE(line_sums("  a b").exact, line_sums("a b").exact);
  EXPECT_EQ(line_sums("a b\r").exact, line_sums("a b").exact);
  EXPECT_NE(line_sums("ab").loose, line_sums("a b").loose);
  EXPECT_NE(text_lines("a\nb").whole, text_lines("b\na").whole);
  EXPECT_EQ(text_lines("a\r\nb"), text_lines("a\nb"));
}

// Of random edits: both ways agree, the order is kept, and lines said to be the same are.
TEST(LineMap, HoldsForRandomEdits) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return random() % end; };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> before;
    for (std::size_t count = below(60); count > 0; --count) {
      before.push_back(static_cast<std::uint32_t>(below(25)));
    }
    std::vector<std::uint32_t> now = before;
    for (std::size_t edits = below(6); edits > 0; --edits) {
      const auto at = now.begin() + static_cast<std::ptrdiff_t>(below(now.size() + 1));
      if (below(2) == 0 || at == now.end()) {
        now.insert(at, static_cast<std::uint32_t>(below(25)));
      } else {
        now.erase(at);
      }
    }
    const LineMap map(before, now);
    std::uint32_t last = 0;
    for (std::uint32_t line = 1; line <= before.size(); ++line) {
      const auto there = map.now(line);
      if (!there) {
        continue;
      }
      EXPECT_GT(there->number, last);
      last = there->number;
      ASSERT_LE(there->number, now.size());
      EXPECT_EQ(there->same, before[line - 1] == now[there->number - 1]);
      EXPECT_EQ(map.before(there->number)->number, line);
    }
    if (now == before) {
      EXPECT_TRUE(before.empty() || map.intact(1, static_cast<std::uint32_t>(before.size())));
    }
  }
}

} // namespace
} // namespace ptlens::source
