// Random recordings: the module's answers against the naive ones, and the invariants of the
// numbers.
#include "measure/flame/flame.hpp"
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "measure/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace ptlens::measure {
namespace {

using naive::Calls;
using stacks::CallIndex;
using stacks::CallState;
using stacks::FunctionId;

constexpr std::uint32_t seeds = 12;

class RandomRecording : public testing::TestWithParam<std::uint32_t> {
protected:
  // The time of nested calls is found in another way where a function has complete calls only.
  test::Recording m_ = test::random_recording({.seed = GetParam(), .complete_functions = 3});
  Measurement asked_ = m_;

  double percent(std::uint64_t on_cpu) const {
    return 100.0 * static_cast<double>(on_cpu) /
           static_cast<double>(m_.recording.trace_ns - m_.recording.lost_ns);
  }

  void expect_latency(const LatencyStats& stats, const Calls& calls) const {
    EXPECT_EQ(stats.calls, calls.size());
    EXPECT_EQ(stats.total, naive::total(m_, calls));
    EXPECT_DOUBLE_EQ(stats.mean, naive::mean(m_, calls));
    EXPECT_NEAR(stats.stddev, naive::stddev(m_, calls), 1e-9 * (1 + stats.stddev));
    EXPECT_EQ(stats.p50, naive::percentile(m_, calls, 500));
    EXPECT_EQ(stats.p90, naive::percentile(m_, calls, 900));
    EXPECT_EQ(stats.p99, naive::percentile(m_, calls, 990));
    EXPECT_EQ(stats.p999, naive::percentile(m_, calls, 999));
    EXPECT_EQ(stats.max, naive::percentile(m_, calls, 1000));
    EXPECT_EQ(stats.min, naive::percentile(m_, calls, 0));
  }

  void expect_off_cpu(const OffCpuStats& stats, const Calls& calls) const {
    EXPECT_EQ(stats.total, naive::off_cpu(m_, calls));
    EXPECT_EQ(stats.total, stats.blocked + stats.preempted);
    std::uint64_t blocked = 0;
    std::uint64_t switches = 0;
    std::uint64_t switched = 0;
    for (const std::uint32_t call : calls) {
      blocked += m_.calls.blocked[call];
      switches += m_.calls.switches[call];
      switched += m_.calls.switches[call] > 0 ? 1 : 0;
    }
    EXPECT_EQ(stats.blocked, blocked);
    EXPECT_EQ(stats.switches, switches);
    EXPECT_EQ(stats.calls, switched);
    if (!calls.empty()) {
      EXPECT_DOUBLE_EQ(stats.mean,
                       static_cast<double>(stats.total) / static_cast<double>(calls.size()));
    }
  }

  void expect_rows(const std::vector<RelatedRow>& rows, const naive::CallsByPlace& expected) const {
    ASSERT_EQ(rows.size(), expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto calls = expected.find({rows[i].function, rows[i].site});
      ASSERT_NE(calls, expected.end());
      expect_latency(rows[i].latency, calls->second);
      expect_off_cpu(rows[i].off_cpu, calls->second);
      EXPECT_TRUE(i == 0 || rows[i - 1].latency.total >= rows[i].latency.total);
    }
  }
};

TEST_P(RandomRecording, ReportAgreesWithTheDefinitions) {
  for (const FunctionId function : m_.functions.ids()) {
    const Report r = report(asked_, function, {});
    const Calls all = naive::calls_of(m_, function);
    const Calls complete = naive::only_complete(m_, all);
    EXPECT_EQ(r.complete, complete.size());
    EXPECT_EQ(r.complete + r.incomplete + r.unwound, all.size());
    expect_latency(r.latency, complete);
    expect_off_cpu(r.off_cpu, complete);
    EXPECT_EQ(r.on_cpu_total + r.off_cpu.total, r.latency.total);
    EXPECT_NEAR(r.cpu_percent, percent(naive::outermost_on_cpu(m_, complete)), 1e-9);

    const auto callers = naive::by_caller(m_, complete);
    expect_rows(r.callers, callers);
    double callers_percent = 0;
    for (const RelatedRow& row : r.callers) {
      callers_percent += row.cpu_percent;
    }
    EXPECT_LE(callers_percent, r.cpu_percent + 1e-9);

    const auto children = naive::children_of(m_, all);
    expect_rows(r.children, children);
    std::map<FunctionId, Calls> by_child; // a function's outermost calls, whatever their site
    std::map<FunctionId, double> child_percent;
    for (const auto& [key, calls] : children) {
      by_child[key.first].insert(by_child[key.first].end(), calls.begin(), calls.end());
    }
    for (const RelatedRow& row : r.children) {
      child_percent[row.function] += row.cpu_percent;
    }
    for (const auto& [child, calls] : by_child) {
      EXPECT_NEAR(child_percent[child], percent(naive::outermost_on_cpu(m_, calls)), 1e-9);
    }
  }
}

TEST_P(RandomRecording, GroupsEveryCompleteCallOnce) {
  for (const FunctionId function : m_.functions.ids()) {
    const Report r = report(asked_, function, {});
    std::uint64_t with_caller = 0;
    for (const std::uint32_t call : naive::only_complete(m_, naive::calls_of(m_, function))) {
      with_caller +=
          m_.calls.parent[call] != CallIndex::none || m_.calls.site[call] != stacks::SiteId::none
              ? 1
              : 0;
    }
    const auto calls_in = [](const auto& rows) {
      return std::accumulate(
          rows.begin(), rows.end(), std::uint64_t{0},
          [](std::uint64_t sum, const auto& row) { return sum + row.latency.calls; });
    };
    EXPECT_EQ(calls_in(r.callers), with_caller);
    EXPECT_EQ(calls_in(r.threads), r.complete);

    std::uint64_t in_buckets = 0;
    std::uint64_t off_cpu_in_buckets = 0;
    for (std::size_t i = 0; i < r.histogram.size(); ++i) {
      const Bucket& bucket = r.histogram[i];
      in_buckets += bucket.calls;
      off_cpu_in_buckets += bucket.off_cpu_calls;
      EXPECT_TRUE(std::has_single_bit(bucket.high));
      EXPECT_EQ(bucket.low, bucket.high == 1 ? 0 : bucket.high / 2);
      EXPECT_TRUE(i == 0 || r.histogram[i - 1].high == bucket.low);
    }
    EXPECT_EQ(in_buckets, r.complete);
    EXPECT_EQ(off_cpu_in_buckets, r.off_cpu.calls);
    if (r.complete > 0) {
      EXPECT_TRUE(r.latency.min >= r.histogram.front().low &&
                  r.latency.min < r.histogram.front().high);
      EXPECT_TRUE(r.latency.max >= r.histogram.back().low &&
                  r.latency.max < r.histogram.back().high);
    }
  }
}

TEST_P(RandomRecording, SelfTimesAddUpToTheRootsOfEachThread) {
  std::map<std::uint32_t, std::uint64_t> self;
  std::map<std::uint32_t, std::uint64_t> roots;
  std::uint64_t all_roots = 0;
  for (std::uint32_t call = 0; call < m_.calls.size(); ++call) {
    self[m_.calls.thread[call]] += m_.calls.self(call);
    if (m_.calls.parent[call] == CallIndex::none) {
      roots[m_.calls.thread[call]] += m_.calls.latency[call];
      all_roots += m_.calls.latency[call];
    }
  }
  EXPECT_EQ(self, roots);

  std::uint64_t traced = 0;
  for (const stacks::ThreadInfo& thread : m_.threads) {
    traced += thread.last_ns - thread.first_ns;
  }
  std::uint64_t in_table = 0;
  std::uint64_t calls = 0;
  const std::vector<FunctionRow> rows = functions(asked_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FunctionRow& row = rows[i];
    in_table += row.self;
    calls += row.complete + row.incomplete + row.unwound;
    EXPECT_LE(row.inclusive, traced);
    EXPECT_LE(row.self, row.inclusive);
    EXPECT_LE(row.off_cpu, row.inclusive);
    EXPECT_TRUE(i == 0 || rows[i - 1].inclusive >= row.inclusive);
    const Calls all = naive::calls_of(m_, row.function);
    EXPECT_DOUBLE_EQ(row.mean, naive::mean(m_, naive::only_complete(m_, all)));
    Calls outermost;
    std::ranges::copy_if(all, std::back_inserter(outermost), [&](std::uint32_t call) {
      return std::ranges::none_of(
          all, [&](std::uint32_t other) { return naive::is_inside(m_, call, other); });
    });
    EXPECT_EQ(row.inclusive, naive::total(m_, outermost));
    EXPECT_EQ(row.off_cpu, naive::off_cpu(m_, outermost));
  }
  EXPECT_EQ(in_table, all_roots);
  EXPECT_EQ(calls, m_.calls.size());
  EXPECT_EQ(flame(asked_, std::nullopt, {}, FlameTime::wall, 0).inclusive[0], all_roots);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRecording, testing::Range(0U, seeds));

} // namespace
} // namespace ptlens::measure
