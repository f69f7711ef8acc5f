// Several lanes in one file, read by perf: order, ownership and faults of records.
#include "file/perf_data_writer.hpp"
#include "harness.hpp"

#include <gtest/gtest.h>

namespace ptlens::ptsim::testing {
namespace {

constexpr Task first{100, 100};
constexpr Task second{100, 101};

class Lanes : public ::testing::Test {
protected:
  void SetUp() override {
    if (run({"perf", "--version"}).status != 0) {
      GTEST_SKIP() << "perf is not installed, so nothing can judge a recording";
    }
  }

  PerfDataWriter writer(RecordingConfig config) {
    config.path = folder_ / "perf.data";
    config.event = "intel_pt//u";
    config.event_config = 0x300e601;
    config.threads = {{100, "first"}, {101, "second"}};
    auto made = PerfDataWriter::create(config);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  [[nodiscard]] Output script(const std::vector<std::string>& options) const {
    std::vector<std::string> command{"perf", "script", "-f", "-i", folder_ / "perf.data"};
    command.insert(command.end(), options.begin(), options.end());
    return run(command);
  }

  TemporaryFolder folder_;
};

// Lane 1 is read after lane 0, so some of its records are older than the records before them.
TEST_F(Lanes, PerfSortsTheSwitchesOfAllCpusByTime) {
  RecordingConfig config;
  config.lanes = {{0, 100}, {1, 100}};
  PerfDataWriter file = writer(config);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const std::uint64_t time = round * 1000;
    file.switch_in({0, time + 20, first, 0}, idle_task);
    file.switch_out({0, time + 80, first, 0}, second, true);
    file.switch_in({1, time + 10, second, 1}, idle_task);
    file.switch_out({1, time + 50, second, 1}, idle_task, false);
    file.finish_round();
  }
  ASSERT_TRUE(file.finish());
  const Output events = script({"--show-switch-events", "--ns", "-F", "tid,cpu,time"});
  EXPECT_EQ(events.status, 0);
  EXPECT_EQ(events.err, "");
  std::size_t last = 0;
  for (const char* expected :
       {"101 [001]     0.000001010:", "100 [000]     0.000001020:", "101 [001]     0.000001050:",
        "100 [000]     0.000001080:", "101 [001]     0.000002010:", "100 [000]     0.000003080:"}) {
    const std::size_t at = events.out.find(expected, last);
    ASSERT_NE(at, std::string::npos) << expected << " in order in\n" << events.out;
    last = at;
  }
  EXPECT_NE(events.out.find("OUT preempt  next pid/tid:   100/101"), std::string::npos)
      << events.out;
}

TEST_F(Lanes, TraceBelongsToItsCpuAndFaultsAreTold) {
  RecordingConfig config;
  config.lanes = {{0, 100}, {3, 100}};
  PerfDataWriter file = writer(config);
  const std::vector<std::uint8_t> padding(24);
  file.aux({1, 5000, second, 3}, 0, 24, PERF_AUX_FLAG_TRUNCATED);
  file.trace(1, padding, 0, 77);
  file.lost({1, 5100, second, 3}, 17);
  file.aux({0, 5200, first, 0}, 0, 24);
  file.trace(0, padding, 0, 78);
  ASSERT_TRUE(file.finish());
  const std::string dump = script({"-D"}).out;
  EXPECT_NE(dump.find("AUX offset: 0 size: 0x18 flags: 0x1 [T]"), std::string::npos);
  EXPECT_NE(dump.find("PERF_RECORD_LOST: id:4: lost:17"), std::string::npos);
  EXPECT_NE(dump.find("offset: 0  ref: 0x4e  idx: 0  tid: 100  cpu: 0"), std::string::npos);
  EXPECT_NE(dump.find("offset: 0  ref: 0x4d  idx: 1  tid: 100  cpu: 3"), std::string::npos);
}

TEST_F(Lanes, ThreadsHaveBuffersOfTheirOwn) {
  RecordingConfig config;
  config.per_thread = true;
  config.switch_events = true;
  config.lanes = {{-1, 100}, {-1, 101}};
  PerfDataWriter file = writer(config);
  file.switch_out({1, 5000, second, 2}, idle_task, true);
  file.trace(1, std::vector<std::uint8_t>(8), 0, 1);
  ASSERT_TRUE(file.finish());
  const std::string dump = script({"-D"}).out;
  EXPECT_NE(dump.find("PERF_RECORD_SWITCH OUT preempt"), std::string::npos);
  EXPECT_NE(dump.find("idx: 1  tid: 101  cpu: -1"), std::string::npos);
}

} // namespace
} // namespace ptlens::ptsim::testing
