// Small cases worked out by hand, and stacks too deep for native recursion.
#include "measure/flame/flame.hpp"
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "measure/report/report.hpp"
#include "stacks/calls/self_nesting.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ptlens::measure {
namespace {

using stacks::CallIndex;
using stacks::CallState;
using stacks::FunctionId;
using stacks::SiteId;

// Calls of one function, one after the other, with these latencies.
test::Recording calls_of(const std::vector<std::uint64_t>& latencies) {
  test::Recording m = test::empty_recording(1'000'000);
  const auto function = test::add_function(m, "f");
  std::uint64_t now = 0;
  for (const std::uint64_t latency : latencies) {
    test::add_call(m, {.function = function, .start = now, .latency = latency});
    now += latency;
  }
  return m;
}

TEST(Report, MeanOfOneOneZeroIsTwoThirds) {
  const Report r = report(calls_of({1, 1, 0}), 0_fn, {});
  EXPECT_DOUBLE_EQ(r.latency.mean, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(r.latency.stddev, std::sqrt(2.0) / 3.0); // variance (1/9 + 1/9 + 4/9) / 3
  EXPECT_EQ(r.latency.min, 0U);
  EXPECT_EQ(r.latency.max, 1U);
  EXPECT_EQ(r.latency.p50, 1U);
}

TEST(Report, PercentilesAreByNearestRank) {
  std::vector<std::uint64_t> latencies; // 1000, 999, ... 1
  for (std::uint64_t latency = 1000; latency > 0; --latency) {
    latencies.push_back(latency);
  }
  const LatencyStats thousand = report(calls_of(latencies), 0_fn, {}).latency;
  EXPECT_EQ(thousand.p50, 500U);
  EXPECT_EQ(thousand.p90, 900U);
  EXPECT_EQ(thousand.p99, 990U);
  EXPECT_EQ(thousand.p999, 999U);
  EXPECT_EQ(thousand.total, 500'500U);
  EXPECT_DOUBLE_EQ(thousand.mean, 500.5);
  EXPECT_NEAR(thousand.stddev, std::sqrt((1000.0 * 1000.0 - 1) / 12), 1e-9);

  // Ranks ceil(2.5), ceil(4.5), ceil(4.95), ceil(4.995) of five.
  const LatencyStats five = report(calls_of({15, 20, 35, 40, 50}), 0_fn, {}).latency;
  EXPECT_EQ(five.p50, 35U);
  EXPECT_EQ(five.p90, 50U);
  EXPECT_EQ(five.p999, 50U);
  EXPECT_EQ(report(calls_of({7}), 0_fn, {}).latency.p50, 7U);
}

TEST(Report, ThreadsCountCallsOfEveryState) {
  test::Recording m = calls_of({10, 20, 30, 40});
  m.threads.resize(2);
  m.calls.thread = {0, 0, 0, 1};
  m.calls.state = {CallState::complete, CallState::incomplete, CallState::unwound,
                   CallState::incomplete};
  const std::vector<ThreadRow> threads = report(m, 0_fn, {}).threads;
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].latency.calls, 1U);
  EXPECT_EQ(threads[0].incomplete, 1U);
  EXPECT_EQ(threads[0].unwound, 1U);
  EXPECT_EQ(threads[1].latency.calls, 0U);
  EXPECT_EQ(threads[1].incomplete, 1U);
}

TEST(Report, UncertaintyHoldsForNineteenOfTwentyCalls) {
  test::Recording m = calls_of(std::vector<std::uint64_t>(40, 100));
  for (std::uint32_t call = 0; call < 40; ++call) {
    m.calls.uncertainty[call] = 40 - call; // 40, 39, ... 1: rank 38
  }
  EXPECT_EQ(report(m, 0_fn, {}).latency.uncertainty, 38U);
  EXPECT_EQ(report(calls_of({}), 0_fn, {}).latency.uncertainty, 0U);
}

TEST(Report, DeviationOfLongTimesThatHardlyDiffer) {
  constexpr std::uint64_t base = 1'000'000'000'000'000'000; // squares of it lose such differences
  const LatencyStats stats = report(calls_of({base, base + 2, base + 4}), 0_fn, {}).latency;
  EXPECT_NEAR(stats.stddev, std::sqrt(8.0 / 3.0), 1e-12);
}

TEST(Report, SumsBeyond64BitsKeepTheirMean) {
  const LatencyStats stats =
      report(calls_of({UINT64_MAX, UINT64_MAX, UINT64_MAX}), 0_fn, {}).latency;
  EXPECT_DOUBLE_EQ(stats.mean, 18446744073709551615.0);
  EXPECT_EQ(stats.total, UINT64_MAX);
  EXPECT_DOUBLE_EQ(stats.stddev, 0);
}

TEST(Report, BucketsArePowersOfTwoWithoutHoles) {
  const Report r = report(calls_of({0, 1, 2, 3, 4, 7, 8, 1023, 1024}), 0_fn, {});
  ASSERT_EQ(r.histogram.size(), 12U); // [0,1) [1,2) [2,4) ... [1024,2048)
  const std::vector<std::uint64_t> expected = {1, 1, 2, 2, 1, 0, 0, 0, 0, 0, 1, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(r.histogram[i].calls, expected[i]);
  }
  EXPECT_EQ(r.histogram[0].low, 0U);
  EXPECT_EQ(r.histogram[0].high, 1U);
  EXPECT_EQ(r.histogram[2].low, 2U);
  EXPECT_EQ(r.histogram[2].high, 4U);

  const std::vector<Bucket> longest = report(calls_of({UINT64_MAX}), 0_fn, {}).histogram;
  ASSERT_EQ(longest.size(), 1U);
  EXPECT_EQ(longest[0].low, std::uint64_t{1} << 63);
  EXPECT_EQ(longest[0].high, UINT64_MAX);
}

TEST(Report, ThreeRecursiveActivationsAreThreeCallsAndOneTime) {
  test::Recording m = test::empty_recording(200);
  const auto f = test::add_function(m, "f");
  const auto first = test::add_call(m, {.function = f, .latency = 100});
  const auto second =
      test::add_call(m, {.function = f, .parent = first, .start = 10, .latency = 50});
  test::add_call(m, {.function = f, .parent = second, .start = 20, .latency = 20});
  const Report r = report(m, f, {});
  EXPECT_EQ(r.complete, 3U);
  EXPECT_EQ(r.latency.total, 170U);
  EXPECT_EQ(r.self_total, 100U); // 50 + 30 + 20
  EXPECT_DOUBLE_EQ(r.cpu_percent, 50);
  const std::vector<FunctionRow> rows = functions(m);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].complete, 3U);
  EXPECT_EQ(rows[0].inclusive, 100U);
  EXPECT_EQ(rows[0].self, 100U);

  // The outer call has no end: the next one is the outermost that counts.
  m.calls.state[index_of(first)] = CallState::incomplete;
  const Report without_outer = report(m, f, {});
  EXPECT_EQ(without_outer.complete, 2U);
  EXPECT_EQ(without_outer.incomplete, 1U);
  EXPECT_DOUBLE_EQ(without_outer.cpu_percent, 25);
}

TEST(Report, ProcessorShareLeavesOutLostTimeAndNeverDividesByNothing) {
  test::Recording m = calls_of({100, 100});
  m.calls.blocked = {50, 0};
  m.calls.preempted = {0, 30};
  m.recording.trace_ns = 1000;
  m.recording.lost_ns = 600;
  const Report r = report(m, 0_fn, {});
  EXPECT_DOUBLE_EQ(r.cpu_percent, 30); // 120 of 400
  EXPECT_EQ(r.on_cpu_total, 120U);
  EXPECT_DOUBLE_EQ(r.on_cpu_mean, 60);
  EXPECT_DOUBLE_EQ(r.off_cpu.mean, 40);
  EXPECT_EQ(r.off_cpu.blocked, 50U);
  EXPECT_EQ(r.off_cpu.preempted, 30U);
  for (const std::uint64_t lost : {1000U, 1001U}) {
    m.recording.lost_ns = lost;
    EXPECT_EQ(report(m, 0_fn, {}).cpu_percent, 0);
  }
}

TEST(Report, DistinguishesCallersAndChildrenByCallSite) {
  test::Recording m = test::empty_recording(1000);
  const auto caller = test::add_function(m, "caller");
  const auto f = test::add_function(m, "f");
  const auto child = test::add_function(m, "child");
  m.sites = {{.function = caller, .address = 0x10, .file = {}, .line = 1},
             {.function = caller, .address = 0x20, .file = {}, .line = 2},
             {.function = f, .address = 0x30, .file = {}, .line = 3}};
  const auto root =
      test::add_call(m, {.function = caller, .latency = 500, .state = CallState::incomplete});
  const auto one =
      test::add_call(m, {.function = f, .parent = root, .start = 1, .latency = 10, .site = 0_site});
  test::add_call(m, {.function = child, .parent = one, .start = 2, .latency = 4, .site = 2_site});
  test::add_call(m, {.function = f, .parent = root, .start = 20, .latency = 30, .site = 1_site});
  const auto lost = test::add_call(m, {.function = f,
                                       .parent = root,
                                       .start = 60,
                                       .latency = 40,
                                       .state = CallState::incomplete,
                                       .site = 1_site});
  test::add_call(m, {.function = child, .parent = lost, .start = 61, .latency = 6, .site = 2_site});
  test::add_call(
      m, {.function = f, .start = 600, .latency = 5, .site = 0_site}); // its caller: by site
  test::add_call(m, {.function = f, .start = 700, .latency = 1});      // a root

  const Report r = report(m, f, {});
  EXPECT_EQ(r.complete, 4U);
  EXPECT_EQ(r.incomplete, 1U);
  ASSERT_EQ(r.callers.size(), 2U);
  EXPECT_EQ(r.callers[0].function, caller);
  EXPECT_EQ(r.callers[0].site, 1_site);
  EXPECT_EQ(r.callers[0].latency.total, 30U);
  EXPECT_EQ(r.callers[1].site, 0_site);
  EXPECT_EQ(r.callers[1].latency.calls, 2U);
  EXPECT_EQ(r.callers[1].latency.total, 15U);
  ASSERT_EQ(r.children.size(), 1U);
  EXPECT_EQ(r.children[0].function, child);
  EXPECT_EQ(r.children[0].latency.total, 10U); // the incomplete call's child counts
}

TEST(Report, OfNoCallsIsAllZero) {
  const test::Recording m = calls_of({1});
  const Report r = report(m, 77_fn, {});
  EXPECT_EQ(r.complete, 0U);
  EXPECT_EQ(r.latency.calls, 0U);
  EXPECT_EQ(r.latency.min, 0U);
  EXPECT_EQ(r.self_mean, 0);
  EXPECT_TRUE(r.histogram.empty());
  EXPECT_TRUE(r.callers.empty());
  EXPECT_TRUE(functions(test::empty_recording(1)).empty());
}

TEST(Report, FunctionsOfEqualTimeAreOrderedByName) {
  test::Recording m = test::empty_recording(10);
  for (const char* name : {"b", "a", "never_called", "c"}) {
    test::add_function(m, name);
  }
  for (const FunctionId function : {0_fn, 1_fn, 3_fn}) {
    test::add_call(m, {.function = function, .start = index_of(function), .latency = 1});
  }
  const std::vector<FunctionRow> rows = functions(m);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].function, 1_fn);
  EXPECT_EQ(rows[1].function, 0_fn);
  EXPECT_EQ(rows[2].function, 3_fn);
}

// `even` and `odd` call each other, and each calls `leaf`, `depth` levels deep, on the columns
// directly: add_call looks up the whole stack.
test::Recording mutual_recursion(std::uint32_t depth) {
  test::Recording m = test::empty_recording(4 * std::uint64_t{depth});
  for (const char* name : {"even", "odd", "leaf"}) {
    test::add_function(m, name);
  }
  stacks::CallTable& c = m.calls;
  const auto add = [&](FunctionId function, CallIndex parent, std::uint64_t start,
                       std::uint64_t latency, std::uint64_t children, bool inner) {
    c.thread.push_back(0);
    c.function.push_back(function);
    c.parent.push_back(parent);
    c.site.push_back(SiteId::none);
    c.start.push_back(start);
    c.latency.push_back(latency);
    c.uncertainty.push_back(0);
    c.outside.push_back(0);
    c.children.push_back(children);
    c.blocked.push_back(0);
    c.preempted.push_back(0);
    c.switches.push_back(0);
    c.state.push_back(CallState::complete);
    c.tail_call.push_back(0);
    c.removed.push_back(0);
    c.end_unknown.push_back(0);
    c.inner.push_back(inner ? 1 : 0);
  };
  CallIndex parent = CallIndex::none;
  for (std::uint32_t level = 0; level < depth; ++level) {
    const std::uint64_t latency = 4 * std::uint64_t{depth - level};
    const CallIndex call{static_cast<std::uint32_t>(c.size())};
    add(FunctionId{level % 2}, parent, 2 * std::uint64_t{level}, latency,
        level + 1 < depth ? latency - 3 : 1, level > 1);
    add(2_fn, call, 2 * std::uint64_t{level} + 1, 1, 0, false);
    parent = call;
  }
  return m;
}

TEST(Report, StacksOfAHundredThousandLevels) {
  constexpr std::uint32_t depth = 100'000;
  const test::Recording m = mutual_recursion(depth);
  const Report r = report(m, 0_fn, {});
  EXPECT_EQ(r.complete, depth / 2);
  EXPECT_DOUBLE_EQ(r.cpu_percent, 100);
  ASSERT_EQ(r.children.size(), 2U);
  EXPECT_EQ(r.children[0].function, 1_fn);
  EXPECT_DOUBLE_EQ(r.children[0].cpu_percent, 100.0 * (depth - 1) / depth);
  EXPECT_EQ(r.children[1].latency.total, depth / 2);

  Selection below_odd;
  below_odd.ancestors = {{.function = "odd", .latency = {}}};
  EXPECT_EQ(report(m, 0_fn, below_odd).complete, depth / 2 - 1);

  const FlameTree tree = flame(m, std::nullopt, {}, FlameTime::wall, 0);
  EXPECT_EQ(tree.size(), 2 * depth + 1);
  EXPECT_EQ(tree.inclusive[0], 4 * std::uint64_t{depth});
  const std::vector<FunctionRow> rows = functions(m);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].inclusive, 4 * std::uint64_t{depth});
  EXPECT_EQ(rows[0].self + rows[1].self + rows[2].self, rows[0].inclusive);
}

TEST(NestingSweep, FindsTheCallsInsideAnotherCallOfTheirFunction) {
  constexpr std::uint32_t depth = 300;
  const test::Recording m = mutual_recursion(depth);
  std::mt19937 random(5);
  for (const std::uint32_t one_in : {1U, 2U, 10U, 60U}) {
    naive::Calls counted;
    for (std::uint32_t call = 0; call < m.calls.size(); ++call) {
      if (random() % one_in == 0) {
        counted.push_back(call);
      }
    }
    IdVector<FunctionId, stacks::NestingSweep> sweeps(m.functions.size());
    for (const std::uint32_t call : counted) {
      const bool expected = std::ranges::any_of(counted, [&](std::uint32_t other) {
        return m.calls.function[other] == m.calls.function[call] &&
               naive::is_inside(m, call, other);
      });
      EXPECT_EQ(
          sweeps[m.calls.function[call]].is_nested(m.calls.start[call], m.calls.latency[call]),
          expected);
    }
  }
}

// The calls of several functions are reported together as if they were calls of one function.
TEST(Report, OfSeveralFunctionsIsThatOfOneFunctionWithAllTheirCalls) {
  for (std::uint32_t seed = 300; seed < 306; ++seed) {
    const test::Recording m = test::random_recording({.seed = seed});
    test::Recording folded = m;
    for (FunctionId& function : folded.calls.function) {
      function = function == 2_fn ? 1_fn : function;
    }
    for (std::uint32_t call = 0; call < folded.calls.size(); ++call) {
      folded.calls.inner[call] = 0;
      for (CallIndex above = folded.calls.parent[call]; above != CallIndex::none;
           above = folded.calls.parent[index_of(above)]) {
        folded.calls.inner[call] |= static_cast<std::uint8_t>(
            folded.calls.function[index_of(above)] == folded.calls.function[call]);
      }
    }
    Selection slow;
    slow.latency = Interval{.low = 100, .high = UINT64_MAX};
    Selection below;
    below.ancestors = {{.function = "function_0", .latency = {}}};
    for (const Selection& selection : {Selection{}, slow, below}) {
      const Report together = report(m, {1_fn, 2_fn}, selection);
      const Report one = report(folded, 1_fn, selection);
      EXPECT_EQ(together.complete, one.complete);
      EXPECT_EQ(together.incomplete, one.incomplete);
      EXPECT_EQ(together.unwound, one.unwound);
      EXPECT_EQ(together.latency.p90, one.latency.p90);
      EXPECT_DOUBLE_EQ(together.latency.stddev, one.latency.stddev);
      EXPECT_DOUBLE_EQ(together.cpu_percent, one.cpu_percent);
      ASSERT_EQ(together.children.size(), one.children.size());
      for (std::size_t i = 0; i < one.children.size(); ++i) {
        EXPECT_EQ(together.children[i].function, one.children[i].function);
        EXPECT_EQ(together.children[i].site, one.children[i].site);
        EXPECT_EQ(together.children[i].latency.total, one.children[i].latency.total);
        EXPECT_EQ(together.children[i].latency.p50, one.children[i].latency.p50);
      }
      ASSERT_EQ(together.threads.size(), one.threads.size());
      ASSERT_EQ(together.instances.size(), 2U);
      EXPECT_EQ(together.instances[0].complete + together.instances[1].complete, one.complete);
    }
  }
}

} // namespace
} // namespace ptlens::measure
