// Converts timing packets to ticks. The expected values are computed by hand from the SDM's
// definitions.
#include "flow/packets/trace_clock.hpp"

#include <gtest/gtest.h>

namespace ptlens::flow {
namespace {

// A 24 MHz crystal and a 3 GHz TSC: a crystal tick is 125 ticks; an MTC comes every 8 crystal
// ticks.
constexpr ClockConfig config{125, 1, 3, 30};

TEST(TraceClock, HasNoTimeBeforeTheFirstTsc) {
  TraceClock clock(config);
  clock.on_mtc(4);
  clock.on_cyc(100);
  EXPECT_FALSE(clock.now());
}

TEST(TraceClock, CountsCrystalTicksFromTheAlignment) {
  TraceClock clock(config);
  clock.on_tsc(1'000'000);
  // Crystal count 0x105 (5 ticks into a period of 8), 25 TSC ticks after that tick.
  clock.on_tma(0x105, 25);
  // The period's end is 3 crystal ticks on: 1,000,000 - 25 + 3 * 125. Bits 3..10 of 0x108: 0x21.
  clock.on_mtc(0x21);
  EXPECT_EQ(clock.now(), 1'000'350U);
  clock.on_mtc(0x22);
  EXPECT_EQ(clock.now(), 1'001'350U);
  // Three packets lost: four periods at once.
  clock.on_mtc(0x26);
  EXPECT_EQ(clock.now(), 1'005'350U);
}

TEST(TraceClock, CounterOfMtcWrapsAround) {
  TraceClock clock(config);
  clock.on_tsc(0);
  clock.on_tma(0x7f8, 0); // 0xff in MTC's bits
  clock.on_mtc(0x00);
  EXPECT_EQ(clock.now(), 1000U);
}

// An MTC comes every 512 crystal ticks and has bits 9..16 of the crystal clock; a TMA has no
// bit 16.
TEST(TraceClock, TakesTheBitsThatTmaHasNotFromTheNextMtc) {
  constexpr ClockConfig long_period{125, 1, 9, 30};
  TraceClock clock(long_period);
  clock.on_tsc(1'000'000);
  clock.on_tma(0x03d6, 0);
  clock.on_mtc(0x82); // the clock is 0x10400: 42 ticks on
  EXPECT_EQ(clock.now(), 1'005'250U);
  clock.on_mtc(0x83);
  EXPECT_EQ(clock.now(), 1'069'250U); // 512 ticks more
  clock.on_tsc(2'000'000);
  clock.on_tma(0xfff0, 0);
  clock.on_mtc(0x80); // 0x10000: 16 ticks on
  EXPECT_EQ(clock.now(), 2'002'000U);
  clock.on_tsc(3'000'000);
  clock.on_tma(0xfff0, 0);
  clock.on_mtc(0x00); // the same with bit 16 set before
  EXPECT_EQ(clock.now(), 3'002'000U);
}

TEST(TraceClock, ScalesCyclesByTheCoreBusRatio) {
  TraceClock clock(config);
  clock.on_tsc(5000);
  clock.on_cbr(40); // the core runs at 4/3 of the TSC's rate
  clock.on_cyc(400);
  EXPECT_EQ(clock.now(), 5300U);
  clock.on_cyc(400);
  EXPECT_EQ(clock.now(), 5600U);
}

TEST(TraceClock, NeverGoesBack) {
  TraceClock clock(config);
  clock.on_tsc(5000);
  clock.on_cbr(30);
  clock.on_cyc(900);
  clock.on_tsc(5500); // the cycles ran ahead
  EXPECT_EQ(clock.now(), 5900U);
}

} // namespace
} // namespace ptlens::flow
