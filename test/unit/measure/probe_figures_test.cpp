// Figures without the time of probes: calls and costs by hand.
#include "measure/flame/flame.hpp"
#include "measure/lines/lines.hpp"
#include "measure/recordings.hpp"
#include "measure/report/report.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::measure {
namespace {

test::Recording probed() {
  test::Recording m = test::empty_recording(1'000'000'000);
  m.recording.backend = "uprobe";
  test::add_function(m, "f");
  return m;
}

// 100 calls of 1,001 to 1,100 ns that took 5,000 ns longer with their probes: 80 of them ± 10 ns,
// 15 ± 20 ns, 4 ± 30 ns and the longest ± 400 ns.
test::Recording hundred_calls() {
  test::Recording m = probed();
  for (std::uint32_t call = 0; call < 100; ++call) {
    const std::uint32_t uncertainty = call < 80 ? 10 : call < 95 ? 20 : call < 99 ? 30 : 400;
    test::add_call(m, {.function = 0_fn,
                       .start = 10'000 * std::uint64_t{call},
                       .latency = 1001 + std::uint64_t{call},
                       .removed = 5000,
                       .uncertainty = uncertainty});
  }
  return m;
}

TEST(ProbeFigures, AnUncertaintyDoesNotAverageOut) {
  const LatencyStats latency = report(hundred_calls(), 0_fn, {}).latency;
  EXPECT_TRUE(latency.corrected);
  EXPECT_DOUBLE_EQ(latency.mean, 1050.5);
  EXPECT_DOUBLE_EQ(latency.within.mean, (80 * 10 + 15 * 20 + 4 * 30 + 400) / 100.0);
  EXPECT_EQ(latency.total, 105'050U);
  EXPECT_DOUBLE_EQ(latency.within.total, 1620);
  EXPECT_EQ(latency.p50, 1050U);
  EXPECT_EQ(latency.within.p50, 10U); // of 75 % of the calls
  EXPECT_EQ(latency.p90, 1090U);
  EXPECT_EQ(latency.within.p90, 20U); // of 95 %
  EXPECT_EQ(latency.p99, 1099U);
  EXPECT_EQ(latency.within.p99, 400U); // of 99.5 %: nearest rank 100
  EXPECT_EQ(latency.within.max, 400U);
}

TEST(ProbeFigures, RawOnesContainTheTimeOfProbes) {
  const test::Recording m = hundred_calls();
  const std::vector functions = {0_fn};
  const auto raw = raw_latency(m, functions, {});
  ASSERT_TRUE(raw);
  EXPECT_DOUBLE_EQ(raw->mean, 6050.5);
  EXPECT_EQ(raw->p50, 6050U);
  EXPECT_EQ(raw->min, 6001U);
  EXPECT_EQ(raw->max, 6100U);
  EXPECT_FALSE(raw->corrected);
  Selection slowest;
  slowest.latency = Interval{1100, 2000}; // without the time of probes, as it is shown
  const auto one = raw_latency(m, functions, slowest);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->calls, 1U);
  EXPECT_EQ(one->p50, 6100U);

  test::Recording traced = hundred_calls();
  traced.recording.backend = "intel_pt";
  EXPECT_FALSE(raw_latency(traced, functions, {}));
}

// 30 ns ± 500 ns: nothing is known but that it is below 530 ns.
TEST(ProbeFigures, BelowTheResolutionOnlyTheBoundIsKnown) {
  test::Recording m = probed();
  for (std::uint64_t call = 0; call < 3; ++call) {
    test::add_call(m, {.function = 0_fn,
                       .start = 10'000 * call,
                       .latency = 30,
                       .removed = 5000,
                       .uncertainty = 500});
  }
  test::add_call(m, {.function = 0_fn, .start = 90'000, .removed = 4000, .uncertainty = 1500});
  const Report made = report(m, 0_fn, {});
  const LatencyStats& latency = made.latency;
  EXPECT_TRUE(is_below_resolution(latency.mean, latency.within.mean));
  EXPECT_DOUBLE_EQ(latency.mean + latency.within.mean, 22.5 + 750);
  EXPECT_EQ(latency.p50 + latency.within.p50, 530U);
  EXPECT_GT(latency.min, 0U);
  EXPECT_EQ(latency.min, latency.within.min);
  EXPECT_EQ(latency.max + latency.within.max, 30U + 1500);
  EXPECT_DOUBLE_EQ(latency.within.total, (90 + 3000) / 2.0);
  EXPECT_TRUE(is_below_resolution(made.self_mean, made.self_within));
  EXPECT_TRUE(is_below_resolution(made.on_cpu_mean, made.on_cpu_within));
  // One bucket from 0 to a power of two that the uncertainty of 19 in 20 calls does not exceed.
  ASSERT_EQ(made.histogram.size(), 1U);
  EXPECT_EQ(made.histogram[0].low, 0U);
  EXPECT_EQ(made.histogram[0].high, 2048U);
  EXPECT_EQ(made.histogram[0].calls, 4U);

  const std::vector<FunctionRow> rows = functions(m);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(rows[0].mean + rows[0].mean_within, 22.5 + 750);
  EXPECT_GT(rows[0].inclusive, 0U);
}

// The outer activation ends at 1,000 ns. Probes took 900 ns of that. The inner one starts later
// than without them, and is nested all the same.
TEST(ProbeFigures, CallsAreNestedByTheirWallTime) {
  test::Recording m = probed();
  const auto outer = test::add_call(
      m, {.function = 0_fn, .start = 0, .latency = 100, .removed = 900, .uncertainty = 1});
  test::add_call(m, {.function = 0_fn,
                     .parent = outer,
                     .start = 500,
                     .latency = 40,
                     .removed = 100,
                     .uncertainty = 1});
  const Report made = report(m, 0_fn, {});
  EXPECT_DOUBLE_EQ(made.cpu_percent, 100 * 100 / 1e9); // not 140 ns
}

TEST(ProbeFigures, SelfTimeIsUnknownWhereACalleeWasNotMeasured) {
  test::Recording m = hundred_calls();
  Measurement measurement = m;
  EXPECT_TRUE(report(measurement, 0_fn, {}).self_known);
  measurement.self_unknown = {0_fn};
  EXPECT_FALSE(report(measurement, 0_fn, {}).self_known);
  EXPECT_FALSE(functions(measurement)[0].self_known);
}

TEST(ProbeFigures, OfATraceAreAsBefore) {
  test::Recording m = test::empty_recording(1000);
  test::add_function(m, "f");
  test::add_call(m, {.function = 0_fn, .start = 0, .latency = 10, .uncertainty = 40});
  const LatencyStats latency = report(m, 0_fn, {}).latency;
  EXPECT_FALSE(latency.corrected);
  EXPECT_DOUBLE_EQ(latency.mean, 10);
  EXPECT_EQ(latency.p50, 10U);
  EXPECT_EQ(latency.uncertainty, 40U);
  EXPECT_EQ(latency.within.p50, 40U);
}

} // namespace
} // namespace ptlens::measure
