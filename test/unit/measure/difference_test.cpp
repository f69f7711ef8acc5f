// What counts as a change between two recordings: worked out by hand.
#include "measure/change/difference.hpp"
#include "measure/change/interval.hpp"
#include "measure/change/recordings.hpp"
#include "measure/recordings.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace ptlens::measure {
namespace {

RunOfCalls run(std::uint64_t calls, double mean, double stddev, std::uint64_t uncertainty) {
  RunOfCalls result{.latency = {}, .p50 = {}, .p99 = {}};
  result.latency.calls = calls;
  result.latency.mean = mean;
  result.latency.stddev = stddev;
  result.latency.within.mean = static_cast<double>(uncertainty);
  result.latency.within.p50 = uncertainty;
  result.latency.within.p99 = uncertainty;
  return result;
}

RunOfCalls with_p99(RunOfCalls run, std::uint64_t p99, ConfidenceInterval interval) {
  run.latency.p99 = p99;
  run.p99 = interval;
  return run;
}

TEST(QuantileInterval, HasTheRanksOfTheNormalApproximation) {
  std::vector<std::uint64_t> values(2000);
  std::iota(values.begin(), values.end(), 1); // the value is the rank
  // 0.5: 1000 ± 1.96 √500 = 1000 ± 43.83; 0.99: 1980 ± 1.96 √19.8 = 1980 ± 8.72.
  const ConfidenceInterval median = quantile_interval(values, 0.5);
  EXPECT_EQ(median.low, 956);
  EXPECT_EQ(median.high, 1044);
  const ConfidenceInterval p99 = quantile_interval(values, 0.99);
  EXPECT_EQ(p99.low, 1971);
  EXPECT_EQ(p99.high, 1989);
  const std::vector<std::uint64_t> one = {7};
  EXPECT_EQ(quantile_interval(one, 0.99).low, 7);
  EXPECT_EQ(quantile_interval(one, 0.99).high, 7);
}

TEST(QuantileInterval, OfADifferenceIsTheWiderOfTwo) {
  // se: 20 / 3.92 and 40 / 3.92; 1.96 √(se₁² + se₂²) = √(10² + 20²) = 22.36. Not symmetric: down
  // √(5² + 15²) = 15.81, up √(35² + 5²) = 35.36.
  const ConfidenceInterval interval = quantile_difference(100, {95, 115}, 200, {195, 235});
  EXPECT_NEAR(interval.low, 100 - 22.361, 0.001);
  EXPECT_NEAR(interval.high, 100 + 35.355, 0.001);
}

TEST(Difference, OfMeansIsAChangeBeyondTheirScatter) {
  // Standard error of the difference: √(100²/399 + 100²/399) = 7.08, times 2.25 (Student, 798
  // degrees of freedom, 97.5 %): 15.9.
  const Change change = difference(run(400, 1000, 100, 2), run(400, 880, 100, 2), true).mean;
  EXPECT_EQ(change.verdict, Verdict::faster);
  EXPECT_EQ(change.reason, Reason::none);
  EXPECT_DOUBLE_EQ(change.difference(), -120);
  EXPECT_DOUBLE_EQ(change.percent(), -12);
  EXPECT_NEAR(change.ns.low, -135.9, 0.1);
  EXPECT_NEAR(change.ns.high, -104.1, 0.1);
  EXPECT_EQ(difference(run(400, 1000, 100, 2), run(400, 1020, 100, 2), true).mean.verdict,
            Verdict::slower);
  EXPECT_EQ(difference(run(400, 1000, 100, 2), run(400, 1014, 100, 2), true).mean.verdict,
            Verdict::cannot_tell); // −2 to +30
}

// Means of 100 and 10 ns, known to ± 60: the difference is −90 ± 120 ns, at least −210 % of 100 ns.
// No latency is negative, so that at most all of it can go.
TEST(Difference, AtMostAllOfALatencyCanGo) {
  const Change change = difference(run(400, 100, 0, 60), run(400, 10, 0, 60), true).mean;
  EXPECT_DOUBLE_EQ(change.ns.low, -210);
  EXPECT_DOUBLE_EQ(change.low_percent(), -100);
  EXPECT_DOUBLE_EQ(change.high_percent(), 30);
  EXPECT_EQ(change.verdict, Verdict::cannot_tell);
}

TEST(Difference, IsNoChangeWithinTwoPercent) {
  EXPECT_EQ(difference(run(40'000, 1000, 100, 2), run(40'000, 1005, 100, 2), true).mean.verdict,
            Verdict::no_change); // 5 ± 4
  EXPECT_EQ(difference(run(40'000, 1000, 100, 2), run(40'000, 1019, 100, 2), true).mean.verdict,
            Verdict::slower); // 19 ± 4
}

TEST(Difference, MustExceedBothUncertainties) {
  const RunOfCalls base = run(1'000'000, 100, 1, 40);
  EXPECT_EQ(difference(base, run(1'000'000, 180, 1, 40), true).mean.verdict, Verdict::cannot_tell);
  EXPECT_EQ(difference(base, run(1'000'000, 181, 1, 40), true).mean.verdict, Verdict::slower);
  const RunOfCalls p99 = with_p99(base, 200, {199, 201});
  EXPECT_EQ(difference(p99, with_p99(base, 280, {279, 281}), true).p99.verdict,
            Verdict::cannot_tell);
  EXPECT_EQ(difference(p99, with_p99(base, 281, {280, 282}), true).p99.verdict, Verdict::slower);
}

TEST(Difference, IsNotDecidedWithFewCalls) {
  const RunOfCalls base = with_p99(run(1000, 100, 1, 1), 110, {110, 110});
  const Difference few = difference(base, run(19, 900, 1, 1), true);
  EXPECT_EQ(few.mean.verdict, Verdict::cannot_tell);
  EXPECT_EQ(few.mean.reason, Reason::few_calls);
  const Difference some = difference(base, run(999, 900, 1, 1), true);
  EXPECT_EQ(some.mean.verdict, Verdict::slower);
  EXPECT_EQ(some.p99.verdict, Verdict::cannot_tell);
  EXPECT_EQ(some.p99.reason, Reason::few_calls);
  EXPECT_EQ(difference(base, base, false).mean.reason, Reason::no_timing);
}

// `latency` of ten calls of each function, in binaries and files of these names.
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
    for (std::uint64_t call = 0; call < 30; ++call) {
      test::add_call(m, {.function = function,
                         .start = 1000 * (index_of(function) * 30 + call),
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

  const RecordingDifference all = differences(std::array{&base}, std::array{&now});
  ASSERT_EQ(all.both.size(), 2U);
  for (const FunctionChange& change : all.both) {
    EXPECT_EQ(change.measurement, &now);
    EXPECT_EQ(base.functions[change.base.front().function].name,
              now.functions[change.function].name);
    EXPECT_DOUBLE_EQ(change.difference.mean.difference(), 200);
    EXPECT_EQ(change.difference.mean.verdict, Verdict::slower);
    EXPECT_EQ(change.difference.p50.verdict, Verdict::slower);
    EXPECT_TRUE(change.difference.one_run);
    EXPECT_EQ(change.base.front().complete, 30U);
    EXPECT_EQ(change.now.front().latency.total, 9000U);
  }
  EXPECT_EQ(all.only_base.size(), 2U);
  EXPECT_EQ(all.only_now.size(), 2U);
}

TEST(Difference, OfSeveralRunsHasTheirSpread) {
  const Measurement b1 = recording({{"f", "/app", "a.c"}}, 90);
  const Measurement b2 = recording({{"f", "/app", "a.c"}, {"b", "/app", "a.c"}}, 110);
  const Measurement n1 = recording({{"n", "/app", "a.c"}, {"f", "/app", "a.c"}}, 115);
  const Measurement n2 = recording({{"f", "/app", "a.c"}}, 95);
  const Measurement n3 = recording({{"f", "/app", "a.c"}}, 900);
  const RecordingDifference all = differences(std::array{&b1, &b2}, std::array{&n1, &n2});
  ASSERT_EQ(all.both.size(), 1U);
  const Change& mean = all.both[0].difference.mean;
  EXPECT_FALSE(all.both[0].difference.one_run);
  EXPECT_DOUBLE_EQ(mean.base, 100); // of 90 and 110
  EXPECT_DOUBLE_EQ(mean.now, 105);
  EXPECT_EQ(mean.verdict, Verdict::cannot_tell);
  // The bootstrap of two runs reaches from −20 to +20 around the difference.
  EXPECT_LT(mean.ns.low, 5 - 20);
  EXPECT_GT(mean.ns.high, 5 + 20);
  EXPECT_EQ(all.only_base.size(), 1U);
  EXPECT_EQ(all.only_now.size(), 1U);
  const RecordingDifference more =
      differences(std::array{&b1, &b2, &b1, &b2}, std::array{&n3, &n3, &n3, &n3});
  ASSERT_EQ(more.both.size(), 1U);
  EXPECT_EQ(more.both[0].difference.mean.verdict, Verdict::slower);
  EXPECT_EQ(more.both[0].difference.p50.verdict, Verdict::slower);
}

} // namespace
} // namespace ptlens::measure
