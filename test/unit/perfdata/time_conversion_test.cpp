// Conversion from TSC to perf's clock, compared with arithmetic by hand and with bc(1).
#include "perfdata/contents/time_conversion.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ptlens::perfdata {
namespace {

TEST(TimeConversion, ScalesByMultiplierOverPowerOfTwo) {
  // 3 / 2^2 ns per tick: 9 ticks are 6.75 ns.
  const TimeConversion conversion{.shift = 2, .multiplier = 3, .zero = 100, .valid = true};
  EXPECT_EQ(conversion.to_ns(0), 100U);
  EXPECT_EQ(conversion.to_ns(4), 103U);
  EXPECT_EQ(conversion.to_ns(9), 106U);
}

TEST(TimeConversion, WrapsModulo64Bit) {
  // echo '(18433473881008870804+26500000000000000*1076264588/2^31)%2^64' | bc
  const TimeConversion conversion{
      .shift = 31, .multiplier = 1076264588, .zero = 18433473881008870804U, .valid = true};
  EXPECT_EQ(conversion.to_ns(0), 18433473881008870804U);
  EXPECT_EQ(conversion.to_ns(26500000000000000U), 10938267912248U);
  EXPECT_EQ(conversion.to_ns(26500000000000001U), 10938267912249U);
}

TEST(TimeConversion, KeepsTheHighBitsOfALargeCounter) {
  // 2^63 ticks of 2^31 / 2^31 ns: the product has 94 bits.
  const TimeConversion conversion{.shift = 31, .multiplier = 1U << 31U, .zero = 5, .valid = true};
  EXPECT_EQ(conversion.to_ns(1ULL << 63U), (1ULL << 63U) + 5);
  EXPECT_EQ(conversion.to_ns(std::numeric_limits<std::uint64_t>::max()), 4U);
}

TEST(TimeConversion, ReturnsTheFirstTickAtOrAfterATime) {
  const TimeConversion conversion{
      .shift = 31, .multiplier = 1789569706, .zero = 18446744041015200657U, .valid = true};
  for (std::uint64_t ns = 641255848000; ns < 641255849000; ++ns) {
    const std::uint64_t tick = conversion.to_tsc(ns);
    ASSERT_GE(conversion.to_ns(tick), ns);
    ASSERT_LT(conversion.to_ns(tick - 1), ns);
  }
}

TEST(TimeConversion, ReturnsTickZeroBeforeTheCounterStarted) {
  const TimeConversion conversion{.shift = 10, .multiplier = 1024, .zero = 1000, .valid = true};
  EXPECT_EQ(conversion.to_tsc(999), 0U);
  EXPECT_EQ(conversion.to_tsc(0), 0U);
  EXPECT_EQ(conversion.to_tsc(1001), 1U);
}

TEST(TimeConversion, CountsTicksAsNanosecondsWithoutOne) {
  const TimeConversion none;
  EXPECT_EQ(none.to_ns(123456789), 123456789U);
  EXPECT_EQ(none.to_tsc(123456789), 123456789U);
}

} // namespace
} // namespace ptlens::perfdata
