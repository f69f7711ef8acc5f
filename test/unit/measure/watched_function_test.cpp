// Reports on a function while a recording is decoded; the expected numbers were computed by hand.
#include "measure/report/watched_function.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ptlens::measure {
namespace {

using Clock = WatchedFunction::Clock;
using std::chrono::milliseconds;

class Passed final : public stacks::CallSink {
public:
  void take(const stacks::ClosedCall& call) override { calls.push_back(call); }
  std::vector<stacks::ClosedCall> calls;
};

stacks::FunctionInfo named(const char* name, const char* binary) {
  stacks::FunctionInfo info;
  info.name = name;
  info.binary = binary;
  return info;
}

stacks::ClosedCall call(stacks::FunctionId function, std::uint64_t latency,
                        std::uint64_t blocked = 0,
                        stacks::CallState state = stacks::CallState::complete) {
  stacks::ClosedCall made;
  made.function = function;
  made.latency = latency;
  made.blocked = blocked;
  made.state = state;
  return made;
}

struct Heard {
  std::vector<PartialReport> reports;
  Watch watch(const char* name, const char* binary = "") {
    return {.selector = {.name = name, .address = {}},
            .binary = binary,
            .listener = [this](const PartialReport& report) { reports.push_back(report); }};
  }
};

TEST(WatchedFunction, CountsItsCallsAndPassesAllOn) {
  Heard heard;
  const Watch watch = heard.watch("f");
  stacks::Functions functions = {named("g", "/a"), named("ns::f(int)", "/a")};
  WatchedFunction watched(watch, functions, Clock::time_point());
  Passed passed;
  stacks::CallSink& sink = watched.before(passed);
  sink.take(call(0_fn, 7));
  sink.take(call(1_fn, 100));
  sink.take(call(1_fn, 40, 8));
  functions.push_back(named("h", "/a")); // known only now
  sink.take(call(2_fn, 9));
  sink.take(call(1_fn, 1000, 0, stacks::CallState::incomplete));
  sink.take(call(1_fn, 1, 0, stacks::CallState::unwound));
  EXPECT_EQ(passed.calls.size(), 6U);

  const auto report = watched.report();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->function.name, "ns::f(int)");
  EXPECT_EQ(report->complete, 2U);
  EXPECT_EQ(report->incomplete, 1U);
  EXPECT_EQ(report->unwound, 1U);
  EXPECT_EQ(report->mean, 70);
  EXPECT_EQ(report->min, 40U);
  EXPECT_EQ(report->max, 100U);
  EXPECT_EQ(report->total, 140U);
  EXPECT_EQ(report->off_cpu, 8U);
  ASSERT_EQ(report->histogram.size(), 2U); // [32, 64) and [64, 128)
  EXPECT_EQ(report->histogram[0].low, 32U);
  EXPECT_EQ(report->histogram[0].calls, 1U);
  EXPECT_EQ(report->histogram[0].off_cpu_calls, 1U);
  EXPECT_EQ(report->histogram[1].calls, 1U);
  EXPECT_EQ(report->histogram[1].off_cpu_calls, 0U);
}

TEST(WatchedFunction, ReportsAfterASecondThenTwiceASecond) {
  Heard heard;
  const Watch watch = heard.watch("f");
  const stacks::Functions functions = {named("f", "/a")};
  const Clock::time_point begin;
  WatchedFunction watched(watch, functions, begin);
  watched.report_if_due(begin + milliseconds(999), 1, 10);
  EXPECT_TRUE(heard.reports.empty());
  watched.report_if_due(begin + milliseconds(1000), 2, 10);
  ASSERT_EQ(heard.reports.size(), 1U);
  EXPECT_EQ(heard.reports[0].done_bytes, 2U);
  EXPECT_EQ(heard.reports[0].total_bytes, 10U);
  EXPECT_EQ(heard.reports[0].complete, 0U);
  watched.report_if_due(begin + milliseconds(1499), 3, 10);
  EXPECT_EQ(heard.reports.size(), 1U);
  watched.report_if_due(begin + milliseconds(1500), 4, 10);
  EXPECT_EQ(heard.reports.size(), 2U);
}

TEST(WatchedFunction, ReportsNothingForAnUnknownOrAmbiguousName) {
  Heard heard;
  stacks::Functions functions = {named("a::f", "/a"), named("b::f", "/b")};
  const Watch both = heard.watch("f");
  EXPECT_FALSE(WatchedFunction(both, functions, Clock::time_point()).report().has_value());
  const Watch unknown = heard.watch("k");
  EXPECT_FALSE(WatchedFunction(unknown, functions, Clock::time_point()).report().has_value());
  const Watch one = heard.watch("f", "/b");
  const auto report = WatchedFunction(one, functions, Clock::time_point()).report();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->function.name, "b::f");
}

} // namespace
} // namespace ptlens::measure
