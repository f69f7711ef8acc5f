// The table's final order.
#include "stacks/call_log.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks {
namespace {

TEST(Order, PutsParentsThatWereFoundLateBeforeTheirChildren) {
  CallTable table;
  const flow::Schedule schedule({});
  CallLog log(table, schedule, 0, 1);
  // Tracing begins inside c; c returns into b, b into a; b had called d meanwhile.
  const std::uint32_t c = log.open(2, no_call, no_site, 100, false);
  log.close(c, 110, CallState::incomplete);
  const std::uint32_t b = log.open(1, no_call, no_site, 100, false);
  log.adopt(c, b);
  const std::uint32_t d = log.open(3, b, no_site, 120, false);
  log.close(d, 130, CallState::complete);
  log.close(b, 140, CallState::incomplete);
  const std::uint32_t a = log.open(0, no_call, no_site, 100, false);
  log.adopt(b, a);
  log.close(a, 200, CallState::incomplete);
  order(table);
  EXPECT_EQ(table.function, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(table.parent, (std::vector<std::uint32_t>{no_call, 0, 1, 1}));
  // Self times sum to the whole: 200 - 100.
  std::uint64_t self = 0;
  for (std::size_t call = 0; call < table.size(); ++call) {
    self += table.self(call);
  }
  EXPECT_EQ(self, 100U);
}

TEST(Order, KeepsThreadsApartAndStartsAscending) {
  CallTable table;
  const flow::Schedule schedule({});
  CallLog one(table, schedule, 1, 11);
  CallLog zero(table, schedule, 0, 10);
  const auto late = one.open(5, no_call, no_site, 10, false);
  const auto early = zero.open(6, no_call, no_site, 50, false);
  const auto inner = zero.open(7, early, no_site, 50, false);
  zero.close(inner, 60, CallState::complete);
  zero.close(early, 60, CallState::complete);
  one.close(late, 20, CallState::complete);
  order(table);
  EXPECT_EQ(table.function, (std::vector<std::uint32_t>{6, 7, 5}));
  EXPECT_EQ(table.parent, (std::vector<std::uint32_t>{no_call, 0, no_call}));
}

TEST(Order, InnerActivationsAreThoseInsideAnotherOfTheirFunction) {
  CallTable table;
  const flow::Schedule schedule({});
  CallLog log(table, schedule, 0, 1);
  const auto call = [&](std::uint32_t function, std::uint32_t parent, std::uint64_t start,
                        std::uint64_t end) {
    const std::uint32_t index = log.open(function, parent, no_site, start, false);
    log.close(index, end, CallState::complete);
    return index;
  };
  const std::uint32_t root = call(0, no_call, 100, 200);
  const std::uint32_t first = call(1, root, 100, 150);
  call(1, first, 110, 120);
  call(1, root, 150, 150); // one after the other, in no time
  const std::uint32_t within = call(1, root, 150, 150);
  call(1, within, 150, 150);  // within, in no time
  call(1, no_call, 180, 220); // on another stack
  call(1, no_call, 190, 230); // on a third one, meanwhile
  order(table);
  EXPECT_EQ(table.inner, (std::vector<std::uint8_t>{0, 0, 1, 0, 0, 1, 0, 1}));
}

TEST(CallLog, TimeOutsideUserCodeIsThatOfTheCallersToo) {
  CallTable table;
  const flow::Schedule schedule({});
  CallLog log(table, schedule, 0, 1);
  const std::uint32_t outer = log.open(1, no_call, no_site, 100, false);
  log.spend_outside(outer, 5);
  const std::uint32_t inner = log.open(2, outer, no_site, 110, false);
  log.spend_outside(inner, 30);
  log.close(inner, 150, CallState::complete);
  log.close(outer, 160, CallState::complete);
  EXPECT_EQ(table.outside, (std::vector<std::uint64_t>{35, 30}));
}

TEST(CallLog, LatencyIsAsUncertainAsBothItsEndsTogether) {
  CallTable table;
  const flow::Schedule schedule({});
  CallLog log(table, schedule, 0, 1);
  log.set_spread(7);
  const std::uint32_t outer = log.open(1, no_call, no_site, 100, false);
  log.set_spread(2);
  const std::uint32_t inner = log.open(2, outer, no_site, 110, false);
  log.set_spread(4'294'967'290);
  log.close(inner, 120, CallState::complete);
  log.set_spread(3);
  log.close(outer, 130, CallState::complete);
  EXPECT_EQ(table.resolution, (std::vector<std::uint32_t>{10, 4'294'967'292}));
}

} // namespace
} // namespace ptlens::stacks
