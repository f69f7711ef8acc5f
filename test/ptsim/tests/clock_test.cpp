// The simulated clocks against arithmetic by hand: 3.6 GHz core, 3 GHz TSC, 24 MHz crystal.
#include "trace/clock.hpp"

#include <gtest/gtest.h>

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t start_ns = 5'000'000'000;

TEST(Clock, StartsAtTheGivenTime) {
  const Clock clock(ClockRates{}, start_ns);
  EXPECT_NEAR(static_cast<double>(clock.ns()), static_cast<double>(start_ns), 1);
}

TEST(Clock, SixCoreCyclesAreFiveTicksWhateverTheSteps) {
  Clock clock(ClockRates{}, start_ns);
  const std::uint64_t tsc = clock.tsc();
  for (int step = 0; step < 600; ++step) {
    clock.run(1);
  }
  EXPECT_EQ(clock.cycles(), 600U);
  EXPECT_EQ(clock.tsc() - tsc, 500U);
}

TEST(Clock, AMicrosecondOfSleepIsThreeThousandTicksAndNoCycle) {
  Clock clock(ClockRates{}, start_ns);
  const std::uint64_t tsc = clock.tsc();
  clock.pass(5'000'000);
  EXPECT_EQ(clock.tsc() - tsc, 15'000'000U);
  EXPECT_EQ(clock.cycles(), 0U);
  EXPECT_NEAR(static_cast<double>(clock.ns()), 5'005'000'000.0, 2);
}

TEST(Clock, ACrystalTickIsAHundredAndFiftyCycles) {
  Clock clock(ClockRates{}, start_ns);
  clock.run(clock.cycles_until_ctc(clock.ctc() + 1));
  const std::uint64_t ctc = clock.ctc();
  EXPECT_LE(clock.ticks_since_ctc(), 1U);
  EXPECT_EQ(clock.cycles_until_ctc(ctc), 0U);
  const std::uint64_t until = clock.cycles_until_ctc(ctc + 8);
  EXPECT_NEAR(static_cast<double>(until), 8 * 150, 1);
  clock.run(until - 1);
  EXPECT_EQ(clock.ctc(), ctc + 7);
  clock.run(1);
  EXPECT_EQ(clock.ctc(), ctc + 8);
}

} // namespace
} // namespace ptlens::ptsim
