// The text forms of selections: what they mean, what is refused, and random text.
#include "measure/selection/selection.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace ptlens::measure {
namespace {

void expect_interval(const char* text, std::uint64_t low, std::uint64_t high) {
  const Result<Interval> interval = parse_interval(text);
  ASSERT_TRUE(interval) << interval.error().one_line();
  EXPECT_EQ(interval->low, low) << text;
  EXPECT_EQ(interval->high, high) << text;
}

TEST(ParseInterval, AcceptsNanosecondsAndUnits) {
  expect_interval("100,200", 100, 200);
  expect_interval("0,0", 0, 0);
  expect_interval("5,", 5, UINT64_MAX);
  expect_interval(",5", 0, 5);
  expect_interval("1us,1.5ms", 1'000, 1'500'000);
  expect_interval("1\u00b5s,2s", 1'000, 2'000'000'000);
  expect_interval("0.000000001s,1.50us", 1, 1'500);
  expect_interval("7ns,18446744073709551615", 7, UINT64_MAX);
}

TEST(ParseInterval, RefusesOtherText) {
  for (const char* text : {"",
                           ",",
                           "5",
                           "200,100",
                           "a,b",
                           "1,2,3",
                           "-1,2",
                           "1, 2",
                           " 1,2",
                           "+1,2",
                           "0x10,20",
                           "1.5,2",
                           "1.0001us,2us",
                           "1..5ms,2ms",
                           "1.ms,2ms",
                           ".5ms,2ms",
                           "1m,2m",
                           "1e3,2e3",
                           "1NS,2NS",
                           "18446744073709551616,",
                           "18446744074s,",
                           "18446744073.709551616s,",
                           "1ms\n,2ms",
                           "ms,5"}) {
    const Result<Interval> interval = parse_interval(text);
    ASSERT_FALSE(interval) << text;
    EXPECT_EQ(interval.error().kind, Error::Kind::bad_input);
    EXPECT_FALSE(interval.error().remedy.empty());
  }
}

TEST(ParseAncestor, SplitsAtCommasOutsideTheName) {
  const auto expect = [](const char* text, const char* name, std::uint64_t low,
                         std::uint64_t high) {
    Selection selection;
    const Result<void> parsed = parse_ancestor(text, selection);
    ASSERT_TRUE(parsed) << parsed.error().one_line();
    EXPECT_EQ(selection.ancestor, name);
    EXPECT_EQ(selection.ancestor_latency.low, low);
    EXPECT_EQ(selection.ancestor_latency.high, high);
  };
  expect("g", "g", 0, UINT64_MAX);
  expect("g,5", "g", 5, UINT64_MAX);
  expect("g,5us,", "g", 5'000, UINT64_MAX);
  expect("g,,5ms", "g", 0, 5'000'000);
  expect("ns::g<int, 5>(int, char),1,2", "ns::g<int, 5>(int, char)", 1, 2);
  expect("C::operator,(int, int),1,2", "C::operator,(int, int)", 1, 2);
  expect("operator<<(A, B),1,2", "operator<<(A, B)", 1, 2);
  expect("g@0x1234,1,2", "g@0x1234", 1, 2);
}

TEST(ParseAncestor, RefusalsLeaveTheSelectionAlone) {
  for (const char* text : {"", ",1,2", "g,", "g,,", "g,2,1", "g,1,2,3", "g,x", "g,1,x"}) {
    Selection selection;
    selection.ancestor = "before";
    selection.ancestor_latency.low = 3;
    const Result<void> parsed = parse_ancestor(text, selection);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, Error::Kind::bad_input);
    EXPECT_EQ(selection.ancestor, "before");
    EXPECT_EQ(selection.ancestor_latency.low, 3U);
  }
}

// What is accepted reads back as itself; what is not ends in one short line; nothing crashes.
TEST(ParseSelection, SurvivesAnyText) {
  std::mt19937_64 random(11);
  const std::vector<std::string> pieces = {"0",
                                           "9",
                                           "18446744073709551615",
                                           ".",
                                           ",",
                                           "ns",
                                           "us",
                                           "ms",
                                           "s",
                                           "\u00b5",
                                           "-",
                                           " ",
                                           "e",
                                           "(",
                                           ")",
                                           "<",
                                           ">",
                                           "{",
                                           "operator",
                                           "::",
                                           "g",
                                           "\n",
                                           std::string(1, '\0'),
                                           "\xff",
                                           "@0x"};
  std::size_t accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    constexpr std::size_t numeric = 10; // of the pieces; every other text is of these alone
    const std::size_t choice = round % 2 == 0 ? pieces.size() : numeric;
    for (std::uint64_t left = random() % 9; left > 0; --left) {
      text += pieces[random() % choice];
    }
    const Result<Interval> interval = parse_interval(text);
    if (interval) {
      ++accepted;
      EXPECT_LE(interval->low, interval->high);
      const Result<Interval> again =
          parse_interval(fmt::format("{},{}", interval->low, interval->high));
      ASSERT_TRUE(again) << text;
      EXPECT_EQ(again->low, interval->low);
      EXPECT_EQ(again->high, interval->high);
    } else {
      EXPECT_EQ(interval.error().one_line().find('\n'), std::string::npos);
    }
    Selection selection;
    if (parse_ancestor(text, selection)) {
      EXPECT_TRUE(text.starts_with(selection.ancestor));
      EXPECT_FALSE(selection.ancestor.empty());
    } else {
      EXPECT_TRUE(selection.ancestor.empty());
    }
  }
  EXPECT_GT(accepted, 100U); // the pieces do make intervals
  EXPECT_LT(parse_interval(std::string(1'000'000, '1')).error().one_line().size(), 500U);
  Selection selection;
  EXPECT_TRUE(parse_ancestor(std::string(1'000'000, '('), selection));
}

} // namespace
} // namespace ptlens::measure
