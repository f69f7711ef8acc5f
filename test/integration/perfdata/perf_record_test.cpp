// Recordings by this machine's perf, compared with perf's own reports about them.
#include "perfdata/recording.hpp"
#include "support/run_command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <linux/perf_event.h>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace ptlens::perfdata {
namespace {

using ptlens::test::CommandResult;

CommandResult run(const std::vector<std::string>& arguments) {
  return ptlens::test::run_command(arguments, {}, ptlens::test::Stderr::discarded);
}

class PerfRecord : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ptlens-live-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = (folder_ / "perf.data").string();
    if (run({"perf", "--version"}).status != 0) {
      GTEST_SKIP() << "perf is not on PATH";
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Records the program. `options`: perf's events, then the program. Returns false where perf may
  // not record here.
  [[nodiscard]] bool record(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"perf", "record", "-o", file_};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments).status == 0;
  }

  // Reads lines such as "SAMPLE events:  10166".
  [[nodiscard]] std::map<std::string, std::uint64_t> counts_of_perf() const {
    std::map<std::string, std::uint64_t> counts;
    std::istringstream lines(run({"perf", "report", "--stats", "-i", file_}).output);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string name;
      std::string events;
      std::uint64_t count = 0;
      if (line.starts_with("cpu-clock stats") || line.starts_with("dummy")) {
        break; // the totals come first
      }
      if (fields >> name >> events >> count && events == "events:") {
        counts[name] = count;
      }
    }
    return counts;
  }

  void expect_the_counts_of_perf(const Recording& recording) const {
    const std::map<std::string, std::uint32_t> types = {
        {"MMAP", 1},           {"LOST", 2},
        {"COMM", 3},           {"EXIT", 4},
        {"FORK", 7},           {"SAMPLE", 9},
        {"MMAP2", 10},         {"LOST_SAMPLES", 13},
        {"SWITCH", 14},        {"NAMESPACES", 16},
        {"KSYMBOL", 17},       {"BPF_EVENT", 18},
        {"CGROUP", 19},        {"FINISHED_ROUND", 68},
        {"ID_INDEX", 69},      {"THREAD_MAP", 73},
        {"CPU_MAP", 74},       {"EVENT_UPDATE", 78},
        {"TIME_CONV", 79},     {"COMPRESSED", 81},
        {"FINISHED_INIT", 82},
    };
    const auto perf = counts_of_perf();
    ASSERT_TRUE(perf.contains("SAMPLE") || perf.contains("SWITCH"));
    for (const auto& [name, count] : perf) {
      if (const auto type = types.find(name); type != types.end()) {
        EXPECT_EQ(recording.record_counts()[type->second], count) << name;
      }
    }
  }

  std::filesystem::path folder_;
  std::string file_;
};

// A sample: tid, time and address.
using SampleKey = std::tuple<std::int32_t, std::uint64_t, std::uint64_t>;

std::vector<SampleKey> samples_of_perf(const std::string& file) {
  std::istringstream lines(run({"perf", "script", "--ns", "-F", "tid,time,ip", "-i", file}).output);
  std::vector<SampleKey> keys;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::int32_t tid = 0;
    std::uint64_t seconds = 0;
    std::uint64_t nanoseconds = 0;
    char mark = 0;
    std::uint64_t address = 0;
    if (fields >> tid >> seconds >> mark >> nanoseconds >> mark >> std::hex >> address) {
      keys.emplace_back(tid, seconds * 1000000000 + nanoseconds, address);
    }
  }
  std::ranges::sort(keys);
  return keys;
}

std::vector<SampleKey> samples_of(const Recording& recording) {
  std::vector<SampleKey> keys;
  for (const Sample& sample : recording.samples()) {
    keys.emplace_back(sample.tid, sample.time_ns, sample.ip);
  }
  std::ranges::sort(keys);
  return keys;
}

const std::vector<std::string> busy_program = {"--", "sh", "-c",
                                               "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; "
                                               "true | cat"};

std::vector<std::string> with(std::vector<std::string> options,
                              const std::vector<std::string>& program) {
  options.insert(options.end(), program.begin(), program.end());
  return options;
}

TEST_F(PerfRecord, SwitchesOfADummyEvent) {
  if (!record({"-e", "dummy:u", "--switch-events", "--", "sleep", "0.01"})) {
    GTEST_SKIP() << "perf may not record on this machine";
  }
  const auto recording = Recording::open(file_);
  ASSERT_TRUE(recording) << recording.error().one_line();
  expect_the_counts_of_perf(*recording);
  const std::vector<std::string> arguments = {"record",          "-o", file_,   "-e",  "dummy:u",
                                              "--switch-events", "--", "sleep", "0.01"};
  ASSERT_EQ(recording->command_line().size(), 1 + arguments.size()); // perf's own path first
  EXPECT_TRUE(std::ranges::equal(arguments, std::span(recording->command_line()).subspan(1)));
  bool out = false; // sleep is switched out at least once, and not by preemption
  for (const Switch& change : recording->switches()) {
    out = out || (change.out && !change.preempted);
  }
  EXPECT_TRUE(out);
  EXPECT_TRUE(std::ranges::any_of(recording->thread_names(), [](const ThreadName& name) {
    return name.exec && name.name == "sleep";
  }));
}

TEST_F(PerfRecord, SamplesOfTwoEvents) {
  if (!record(with({"-e", "cpu-clock", "-e", "task-clock", "-F", "5000", "--switch-events"},
                   busy_program))) {
    GTEST_SKIP() << "perf may not record on this machine";
  }
  const auto recording = Recording::open(file_);
  ASSERT_TRUE(recording) << recording.error().one_line();
  expect_the_counts_of_perf(*recording);
  EXPECT_EQ(samples_of(*recording), samples_of_perf(file_));
  ASSERT_GE(recording->attributes().size(), 2U);
  EXPECT_TRUE(recording->attributes()[0].name.starts_with("cpu-clock"));
  EXPECT_TRUE(recording->attributes()[1].name.starts_with("task-clock"));
  EXPECT_TRUE(std::ranges::is_sorted(recording->samples(), {}, &Sample::time_ns));
}

TEST_F(PerfRecord, CompressedRecords) {
  if (!record(with({"-z", "-e", "cpu-clock", "-F", "20000", "--switch-events"}, busy_program))) {
    GTEST_SKIP() << "perf may not record compressed on this machine";
  }
  const auto recording = Recording::open(file_);
  ASSERT_TRUE(recording) << recording.error().one_line();
  EXPECT_GT(recording->record_counts()[81], 0U);
  expect_the_counts_of_perf(*recording);
  EXPECT_FALSE(recording->samples().empty());
  EXPECT_EQ(samples_of(*recording), samples_of_perf(file_));
}

TEST_F(PerfRecord, RawPayloadOfATracepoint) {
  if (!record(with({"-z", "-e", "sched:sched_switch", "-m", "16"}, busy_program))) {
    GTEST_SKIP() << "perf may not record tracepoints on this machine";
  }
  const auto recording = Recording::open(file_);
  ASSERT_TRUE(recording) << recording.error().one_line();
  expect_the_counts_of_perf(*recording);
  for (const Sample& sample : recording->samples()) {
    // The first field of every tracepoint is u16 common_type, the event's id in tracefs.
    ASSERT_GE(sample.raw.size(), 8U);
    std::uint16_t type = 0;
    std::memcpy(&type, sample.raw.data(), sizeof(type));
    ASSERT_EQ(type, recording->attributes()[sample.attribute].config);
    std::int32_t pid = 0; // the fourth field is common_pid: the thread that ran
    std::memcpy(&pid, sample.raw.data() + 4, sizeof(pid));
    ASSERT_EQ(pid, sample.tid);
  }
}

} // namespace
} // namespace ptlens::perfdata
