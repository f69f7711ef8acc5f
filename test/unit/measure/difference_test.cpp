// What counts as a change between two recordings: worked out by hand.
#include "measure/recordings.hpp"
#include "measure/report/difference.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::measure {
namespace {

LatencyStats stats(std::uint64_t calls, double mean, double stddev, std::uint64_t p99,
                   std::uint64_t uncertainty) {
  LatencyStats result;
  result.calls = calls;
  result.mean = mean;
  result.stddev = stddev;
  result.p99 = p99;
  result.uncertainty = uncertainty;
  result.within.mean = static_cast<double>(uncertainty);
  result.within.p99 = uncertainty;
  return result;
}

TEST(Difference, IsAChangeBeyondUncertaintyAndScatter) {
  // Standard error of the difference: sqrt(100²/400 + 100²/400) = 7.07, twice that 14.1.
  const Difference change =
      difference(stats(400, 1000, 100, 2000, 2), stats(400, 880, 100, 2500, 2), true);
  EXPECT_EQ(change.mean_verdict, Verdict::changed);
  EXPECT_DOUBLE_EQ(change.mean, -120);
  EXPECT_DOUBLE_EQ(change.mean_percent, -12);
  EXPECT_NEAR(change.mean_within, 14.142, 0.001);
  EXPECT_EQ(change.p99_verdict, Verdict::changed);
  EXPECT_DOUBLE_EQ(change.p99, 500);
}

TEST(Difference, IsNoneWithinTheScatter) {
  const Difference change =
      difference(stats(400, 1000, 100, 2000, 2), stats(400, 1014, 100, 2003, 2), true);
  EXPECT_EQ(change.mean_verdict, Verdict::unchanged);
  EXPECT_EQ(change.p99_verdict, Verdict::unchanged); // 3 ns of 2 + 2 ns
}

TEST(Difference, IsNoneWithinBothUncertainties) {
  const LatencyStats base = stats(1'000'000, 100, 1, 110, 40);
  EXPECT_EQ(difference(base, stats(1'000'000, 180, 1, 190, 40), true).mean_verdict,
            Verdict::unchanged);
  EXPECT_EQ(difference(base, stats(1'000'000, 181, 1, 191, 40), true).mean_verdict,
            Verdict::changed);
}

TEST(Difference, IsNotDecidedWithFewCalls) {
  const LatencyStats base = stats(1000, 100, 1, 110, 1);
  const Difference few = difference(base, stats(4, 900, 1, 900, 1), true);
  EXPECT_EQ(few.mean_verdict, Verdict::few_calls);
  EXPECT_EQ(few.p99_verdict, Verdict::few_calls);
  const Difference some = difference(base, stats(99, 900, 1, 900, 1), true);
  EXPECT_EQ(some.mean_verdict, Verdict::changed);
  EXPECT_EQ(some.p99_verdict, Verdict::few_calls);
  EXPECT_EQ(difference(base, base, false).mean_verdict, Verdict::no_timing);
}

// `latency` of one call of each function, in binaries and files of these names.
struct Made {
  const char* name;
  const char* binary;
  const char* file;
};

test::Recording recording(const std::vector<Made>& functions, std::uint64_t latency) {
  test::Recording m = test::empty_recording(1'000'000);
  m.recording.uncertainty_ns = 1;
  for (const Made& made : functions) {
    const auto function = test::add_function(m, made.name);
    m.functions[function].binary = made.binary;
    m.functions[function].file = made.file;
    for (std::uint64_t call = 0; call < 10; ++call) {
      test::add_call(m, {.function = function,
                         .start = 1000 * (index_of(function) * 10 + call),
                         .latency = latency});
    }
  }
  return m;
}

TEST(Difference, PairsFunctionsByNameAndBinary) {
  const Measurement base = recording({{"f", "/old/app", "a.c"},
                                      {"g", "/old/app", "a.c"},
                                      {"s", "/old/app", "/x/a.c"},
                                      {"s", "/old/app", "/x/b.c"}},
                                     100);
  const Measurement now = recording({{"h", "/new/app", "a.c"},
                                     {"s", "/new/app", "/y/b.c"},
                                     {"f", "/new/app", "a.c"},
                                     {"g", "/new/lib.so", "a.c"}},
                                    300);
  EXPECT_EQ(same_function(base, now, 0_fn), stacks::FunctionId::none);
  EXPECT_EQ(same_function(base, now, 1_fn), 3_fn);
  EXPECT_EQ(same_function(base, now, 2_fn), 0_fn);
  EXPECT_EQ(same_function(base, now, 3_fn), stacks::FunctionId::none); // in another binary

  const RecordingDifference all = differences(base, now);
  ASSERT_EQ(all.both.size(), 2U);
  for (const FunctionDifference& pair : all.both) {
    EXPECT_EQ(base.functions[pair.base.function].name, now.functions[pair.now.function].name);
    EXPECT_DOUBLE_EQ(pair.difference.mean, 200);
    EXPECT_EQ(pair.base.complete, 10U);
    EXPECT_EQ(pair.now.latency.total, 3000U);
  }
  EXPECT_EQ(all.only_base.size(), 2U);
  EXPECT_EQ(all.only_now.size(), 2U);
}

} // namespace
} // namespace ptlens::measure
