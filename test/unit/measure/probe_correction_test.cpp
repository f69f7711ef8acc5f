// The sums were computed by hand: an outer call of 1000 ns contains two inner calls of 100 ns, and
// one of these contains another call.
#include "measure/recordings.hpp"
#include "measure/report/probe_correction.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ptlens::measure {
namespace {

using namespace test; // NOLINT(google-build-using-namespace): the helpers of these tests

TEST(ProbeCorrection, SubtractsOwnProbesAndAllHitsBelow) {
  test::Recording made = empty_recording(2000);
  const auto outer = add_function(made, "outer");
  const auto inner = add_function(made, "inner", "/bin/app", 0x10);
  const auto silent = add_function(made, "silent", "/bin/app", 0x20);
  const auto first = add_call(made, {.function = outer, .start = 0, .latency = 1000});
  const auto middle =
      add_call(made, {.function = inner, .parent = first, .start = 100, .latency = 100});
  add_call(made, {.function = inner, .parent = middle, .start = 110, .latency = 40});
  add_call(made, {.function = inner, .parent = first, .start = 300, .latency = 100});
  add_call(made, {.function = silent, .parent = first, .start = 500, .latency = 10});
  add_call(
      made,
      {.function = outer, .start = 1200, .latency = 700, .state = stacks::CallState::incomplete});
  const ProbedFunctions probed = {
      {.own = 50, .hits = 80, .own_uncertainty = 5, .hits_uncertainty = 8},
      {.own = 30, .hits = 60, .own_uncertainty = 2, .hits_uncertainty = 3},
      {}};
  for (const Measurement& measurement : {Measurement(made)}) {
    const CorrectedLatency of_outer = corrected_latency(measurement, {&outer, 1}, {}, probed);
    EXPECT_EQ(of_outer.latency.calls, 1U);   // the incomplete one does not count
    EXPECT_EQ(of_outer.latency.total, 770U); // 1000 - 50 - 3 * 60
    EXPECT_DOUBLE_EQ(of_outer.removed, 230);
    EXPECT_DOUBLE_EQ(of_outer.uncertainty, 14); // 5 + 3 * 3
    const CorrectedLatency of_inner = corrected_latency(measurement, {&inner, 1}, {}, probed);
    EXPECT_EQ(of_inner.latency.calls, 3U);
    EXPECT_EQ(of_inner.latency.max, 70U); // 100 - 30
    EXPECT_EQ(of_inner.latency.min, 10U); // 40 - 30, and 100 - 30 - 60
    EXPECT_EQ(of_inner.latency.total, 90U);
    EXPECT_DOUBLE_EQ(of_inner.uncertainty, 3); // 2, 2 and 2 + 3
    EXPECT_EQ(corrected_latency(measurement, {&silent, 1}, {}, probed).latency.total, 10U);
    const std::array both = {outer, inner};
    EXPECT_EQ(corrected_latency(measurement, both, {}, probed).latency.total, 770U + 90U);
  }
}

TEST(ProbeCorrection, SubtractsTheCostOfHitsAtTheirTime) {
  test::Recording made = empty_recording(4000);
  const auto outer = add_function(made, "outer");
  const auto inner = add_function(made, "inner", "/bin/app", 0x10);
  for (const std::uint64_t start : {100U, 1500U, 3000U}) {
    const auto call = add_call(made, {.function = outer, .start = start, .latency = 1000});
    add_call(made, {.function = inner, .parent = call, .start = start + 500, .latency = 100});
  }
  const ProbedFunctions probed = {
      {.own = 50, .hits = 80, .own_uncertainty = 5, .hits_uncertainty = 8},
      {.own = 30, .hits = 60, .own_uncertainty = 2, .hits_uncertainty = 3}};
  // The first call is before all that is known, and the inner call of the second after a change.
  const CostInTime in_time = {{{.from_ns = 1000, .scale = 2, .hit_scale = 2, .uncertainty = 0.1},
                               {.from_ns = 2000, .scale = 3, .hit_scale = 3, .uncertainty = 0.2}}};
  const CorrectedLatency corrected = corrected_latency(made, {&outer, 1}, {}, probed, in_time);
  EXPECT_EQ(corrected.latency.max, 780U); // 1000 - 2 * 50 - 2 * 60
  EXPECT_EQ(corrected.latency.p50, 720U); // 1000 - 2 * 50 - 3 * 60
  EXPECT_EQ(corrected.latency.min, 670U); // 1000 - 3 * 50 - 3 * 60
  // (10 + 12) + (10 + 36) + (30 + 36), of three calls
  EXPECT_DOUBLE_EQ(corrected.uncertainty, 134.0 / 3);
  EXPECT_EQ(corrected_latency(made, {&outer, 1}, {}, probed, {{}}).latency.min, 890U);
}

TEST(ProbeCorrection, BoundsTheCostOfHitsByShortCalls) {
  test::Recording made = empty_recording(20'000);
  const auto outer = add_function(made, "outer");
  const auto inner = add_function(made, "inner", "/bin/app", 0x10);
  const auto call = add_call(made, {.function = outer, .start = 100, .latency = 10'000});
  for (std::uint64_t start = 1000; start < 9000; start += 1000) {
    add_call(made, {.function = inner, .parent = call, .start = start, .latency = 33});
  }
  const ProbedFunctions probed = {{.own = 50, .hits = 80}, {.own = 30, .hits = 60}};
  const CostInTime in_time = {{{.from_ns = 0, .scale = 2, .hit_scale = 2}}};
  // An inner call shows 33 of 30 ns: its hits took 1.1 times 60, not twice that.
  EXPECT_EQ(corrected_latency(made, {&outer, 1}, {}, probed, in_time).latency.total,
            10'000U - 2 * 50 - 8 * 66);
}

TEST(ProbeCorrection, IsNeverNegative) {
  test::Recording made = empty_recording(2000);
  const auto function = add_function(made, "f");
  add_call(made, {.function = function, .start = 0, .latency = 20});
  const CorrectedLatency corrected =
      corrected_latency(made, {&function, 1}, {}, {{.own = 50, .hits = 80}});
  EXPECT_EQ(corrected.latency.total, 0U);
  EXPECT_DOUBLE_EQ(corrected.removed, 20);
}

} // namespace
} // namespace ptlens::measure
