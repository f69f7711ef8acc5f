// The time line in text, of calls that are written by hand.
#include "cache/writing/table_cache.hpp"
#include "export/example.hpp"
#include "export/timeline/timeline_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptlens::exporting {
namespace {

constexpr auto complete = stacks::CallState::complete;
constexpr auto root = stacks::CallIndex::none;

// The nth call is known to ± 10 n ns. The first call of work takes 9,000 ns; of what it calls, the
// first call takes 0 ns and the second one 5,000. Others call nothing.
measure::Measurement measurement() {
  measure::Measurement made = example();
  stacks::CallTable calls;
  add(calls, {0, 1_fn, root, stacks::SiteId::none, 1'000, 9'000, 5'000, 0, 0, complete, false});
  add(calls, {0, 2_fn, 0_row, 1_site, 1'100, 0, 0, 0, 0, complete, false});
  add(calls, {0, 2_fn, 0_row, 1_site, 2'000, 5'000, 0, 0, 0, complete, false});
  add(calls, {0, 1_fn, root, stacks::SiteId::none, 20'000, 15, 0, 0, 0, complete, false});
  made.cache =
      cache::cache_of(
          calls,
          {.functions = made.functions, .sites = made.sites, .threads = made.threads, .more = {}})
          .value();
  return made;
}

TEST(TimelineText, SaysOfShortCallsOnlyWhatIsKnown) {
  const measure::Measurement made = measurement();
  const auto shown = measure::timeline(made, {}, 1_fn, {.tid = 7, .start = 1'000});
  ASSERT_TRUE(shown.has_value());
  const std::string text = timeline_text(made, *shown);
  EXPECT_NE(text.find("9.00 µs on thread main 7"), std::string::npos) << text;
  EXPECT_NE(text.find("  < 20 ns  "), std::string::npos) << text; // 0 ± 20
  EXPECT_NE(text.find("5.00 µs"), std::string::npos) << text;
  EXPECT_NE(text.find("Beside a typical call (< 55 ns"), std::string::npos) << text; // 15 ± 40
  EXPECT_EQ(text.find("0 ns  "), text.find("20 ns  ") + 1) << text;
}

// The call is 9,000 ns long, and 40 letters: the first 4,500 ns are lost.
TEST(TimelineText, DrawsLostTime) {
  measure::Measurement made = measurement();
  made.threads[0].lost = {{1'000, 5'500}};
  const auto shown = measure::timeline(made, {}, 1_fn, {.tid = 7, .start = 1'000});
  ASSERT_TRUE(shown.has_value());
  const std::string text = timeline_text(made, *shown);
  std::string bar;
  for (int letter = 0; letter < 39; ++letter) {
    bar += letter < 20 ? "·" : "█";
  }
  EXPECT_NE(text.find(bar), std::string::npos) << text;
  EXPECT_NE(text.find("Lost: calls in this time are not known"), std::string::npos) << text;
  EXPECT_NE(text.find("4.50 µs"), std::string::npos) << text;
}

TEST(TimelineText, OfAnUnseenEndGivesTheLeastTime) {
  measure::Measurement made = example();
  stacks::CallTable calls;
  add(calls, {.thread = 0,
              .function = 1_fn,
              .parent = root,
              .site = stacks::SiteId::none,
              .start = 1'000,
              .latency = 700,
              .children = 0,
              .blocked = 0,
              .preempted = 0,
              .state = stacks::CallState::unwound,
              .tail_call = false,
              .end_unknown = true});
  made.cache =
      cache::cache_of(
          calls,
          {.functions = made.functions, .sites = made.sites, .threads = made.threads, .more = {}})
          .value();
  const auto shown = measure::timeline(made, {}, 1_fn, {.tid = 7, .start = 1'000});
  ASSERT_TRUE(shown.has_value());
  EXPECT_NE(timeline_text(made, *shown).find("≥ 700 ns on thread main 7"), std::string::npos);
}

} // namespace
} // namespace ptlens::exporting
