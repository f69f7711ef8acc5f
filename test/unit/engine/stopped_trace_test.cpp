// Threads that come and go while the trace of their processor has stopped. The times are those of a
// recording in which perf truncated the trace of processor 0, and a thread was there for 9 µs
// before it went on.
#include "engine/trace/stopped_trace.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace ptlens::engine {
namespace {

constexpr std::int32_t main_thread = 25670;
constexpr std::int32_t worker = 25672;

perfdata::Switch came(std::uint64_t time_ns, std::int32_t tid, std::int32_t cpu) {
  return {.time_ns = time_ns, .tid = tid, .cpu = cpu};
}

perfdata::Switch left(std::uint64_t time_ns, std::int32_t tid, std::int32_t cpu) {
  return {.time_ns = time_ns, .tid = tid, .cpu = cpu, .out = true};
}

class StoppedTraceTest : public ::testing::Test {
protected:
  std::vector<perfdata::AuxWrite> writes_ = {
      {.time_ns = 112'387, .cpu = 0, .truncated = true},
      {.time_ns = 115'515, .cpu = 1},
  };
  std::vector<perfdata::Switch> switches_ = {
      came(108'632, main_thread, 0), came(111'064, worker, 1), left(115'515, worker, 1),
      left(124'866, main_thread, 0), came(125'172, worker, 0), left(134'091, worker, 0),
      came(146'735, worker, 1),      left(150'895, worker, 1), came(172'210, worker, 0),
      left(178'080, worker, 0),
  };
  StoppedTrace stopped_{{0, 1}, writes_, switches_};
};

TEST_F(StoppedTraceTest, AThreadThatLeftTheProcessorMeanwhileRanUntracedSinceItCame) {
  stopped_.go_on(1, 147'430);
  EXPECT_EQ(stopped_.in(worker, 115'098, 147'430), std::optional<std::uint64_t>(125'172));
}

TEST_F(StoppedTraceTest, AThreadThatWasThereRanUntracedSinceTheTraceStopped) {
  stopped_.go_on(1, 147'430);
  EXPECT_EQ(stopped_.in(main_thread, 110'000, 147'430), std::optional<std::uint64_t>(112'387));
  EXPECT_EQ(stopped_.in(main_thread, 120'000, 147'430), std::optional<std::uint64_t>(120'000));
}

TEST_F(StoppedTraceTest, ATracedProcessorAndATraceThatGoesOnMissNothing) {
  stopped_.go_on(1, 111'064);
  EXPECT_EQ(stopped_.in(worker, 0, 111'064), std::nullopt);
  stopped_.go_on(0, 172'154); // the next trace of processor 0
  EXPECT_EQ(stopped_.in(worker, 147'430, 172'154), std::nullopt);
  stopped_.go_on(1, 200'000);
  EXPECT_EQ(stopped_.in(worker, 150'895, 200'000), std::nullopt);
}

TEST(StoppedTrace, NeedsATruncation) {
  const std::vector<perfdata::Switch> switches = {came(10, worker, 0), left(20, worker, 0)};
  StoppedTrace stopped({0}, {}, switches);
  stopped.go_on(1, 30);
  EXPECT_EQ(stopped.in(worker, 0, 30), std::nullopt);
}

TEST_F(StoppedTraceTest, BuffersOfThreadsFollowThemEverywhere) {
  StoppedTrace stopped({-1}, writes_, switches_);
  stopped.go_on(1, 147'430);
  EXPECT_EQ(stopped.in(worker, 115'098, 147'430), std::nullopt);
}

} // namespace
} // namespace ptlens::engine
