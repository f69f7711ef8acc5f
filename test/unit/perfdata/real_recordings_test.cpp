// Recordings from real Intel CPUs, compared with the output of perf 6.1 for the same files: the
// texts under truth/, `perf report -D` and `perf script --header-only`, and the README beside them.
#include "perfdata/recording.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <linux/perf_event.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptlens::perfdata {
namespace {

const std::filesystem::path traces =
    std::filesystem::path(PTLENS_SOURCE_ROOT) / ".." / "shared" / "traces";

#define NEED_TRACES()                                                                              \
  if (!std::filesystem::exists(traces)) {                                                          \
    GTEST_SKIP() << "there are no real recordings beside the repository (" << traces << ")";       \
  }

Recording real(const std::string& name) {
  auto recording = Recording::open((traces / name / "perf.data").string());
  if (!recording) {
    throw std::runtime_error(recording.error().one_line());
  }
  return *std::move(recording);
}

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream file(traces / name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Lines are "COMM TID [CPU] SECONDS.MICROSECONDS: PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next
// pid/tid: P/T"; perf truncates to microseconds.
void expect_same_switches(const Recording& recording, const std::string& truth) {
  const auto lines = lines_of(truth);
  const auto switches = recording.switches();
  ASSERT_EQ(switches.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const std::size_t bracket = line.find(" [");
    const std::size_t ids = line.find("pid/tid:");
    ASSERT_NE(ids, std::string::npos) << line;
    int cpu = 0;
    unsigned long long seconds = 0;
    unsigned long long microseconds = 0;
    ASSERT_EQ(
        std::sscanf(line.c_str() + bracket, " [%d] %llu.%llu:", &cpu, &seconds, &microseconds), 3)
        << line;
    int other_pid = 0;
    int other_tid = 0;
    ASSERT_EQ(std::sscanf(line.c_str() + ids, "pid/tid: %d/%d", &other_pid, &other_tid), 2) << line;
    const Switch& one = switches[i];
    ASSERT_EQ(one.tid, std::stoi(line.substr(line.rfind(' ', bracket - 1)))) << line;
    ASSERT_EQ(one.cpu, cpu) << line;
    ASSERT_EQ(one.time_ns / 1000, seconds * 1000000 + microseconds) << line;
    ASSERT_EQ(one.out, line.find(" OUT ") != std::string::npos) << line;
    ASSERT_EQ(one.preempted, line.find(" preempt ") != std::string::npos) << line;
    ASSERT_EQ(one.other_pid, other_pid) << line;
    ASSERT_EQ(one.other_tid, other_tid) << line;
  }
}

TEST(RealRecordings, HelloWorldHasTheRecordsThatPerfCounts) {
  NEED_TRACES();
  const Recording recording = real("quipper-hello-world");
  const auto counts = recording.record_counts();
  EXPECT_EQ(counts[PERF_RECORD_MMAP], 56U);
  EXPECT_EQ(counts[PERF_RECORD_MMAP2], 10U);
  EXPECT_EQ(counts[PERF_RECORD_COMM], 3U);
  EXPECT_EQ(counts[PERF_RECORD_EXIT], 1U);
  EXPECT_EQ(counts[PERF_RECORD_SAMPLE], 15U);
  EXPECT_EQ(counts[PERF_RECORD_AUX], 10U);
  EXPECT_EQ(counts[PERF_RECORD_ITRACE_START], 2U);
  EXPECT_EQ(counts[PERF_RECORD_SWITCH_CPU_WIDE], 152U);
  EXPECT_EQ(counts[68], 4U); // FINISHED_ROUND
  EXPECT_EQ(counts[70], 1U); // AUXTRACE_INFO
  EXPECT_EQ(counts[71], 2U); // AUXTRACE
  EXPECT_EQ(counts[79], 1U); // TIME_CONV
  EXPECT_EQ(recording.samples().size(), 15U);
  expect_same_switches(recording, "quipper-hello-world/truth/perf-switches.txt");
}

// Lines are "... SECONDS.MICROSECONDS: PERF_RECORD_MMAP2 PID/TID: [START(LENGTH) @ OFFSET ...]:
// r-xp PATH".
TEST(RealRecordings, HelloWorldHasTheMappingsThatPerfPrints) {
  NEED_TRACES();
  const Recording recording = real("quipper-hello-world");
  const auto lines = lines_of("quipper-hello-world/truth/perf-mmaps.txt");
  ASSERT_EQ(recording.mappings().size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    unsigned long long seconds = 0;
    unsigned long long microseconds = 0;
    int pid = 0;
    int tid = 0;
    unsigned long long start = 0;
    unsigned long long length = 0;
    unsigned long long offset = 0;
    ASSERT_EQ(std::sscanf(line.c_str() + line.find("] ") + 1,
                          " %llu.%llu: PERF_RECORD_%*s %d/%d: [%llx(%llx) @ %llx", &seconds,
                          &microseconds, &pid, &tid, &start, &length, &offset),
              7)
        << line;
    const std::size_t protection = line.find("]: ") + 3;
    const Mapping& mapping = recording.mappings()[i];
    ASSERT_EQ(mapping.time_ns / 1000, seconds * 1000000 + microseconds) << line;
    ASSERT_EQ(mapping.pid, pid) << line;
    ASSERT_EQ(mapping.tid, tid) << line;
    ASSERT_EQ(mapping.start, start) << line;
    ASSERT_EQ(mapping.length, length) << line;
    ASSERT_EQ(mapping.file_offset, offset) << line;
    ASSERT_EQ(mapping.path, line.substr(line.find(' ', protection) + 1)) << line;
    ASSERT_EQ(mapping.from_kernel, pid == -1) << line;
  }
}

TEST(RealRecordings, HelloWorldHasTheTraceOfTwoCpus) {
  NEED_TRACES();
  const Recording recording = real("quipper-hello-world");
  ASSERT_EQ(recording.aux_buffers().size(), 2U);
  std::uint64_t of_cpu_0 = 0;
  std::uint64_t of_cpu_3 = 0;
  for (const AuxBuffer& buffer : recording.aux_buffers()) {
    EXPECT_EQ(buffer.tid, -1);
    for (const AuxChunk& chunk : buffer.chunks) {
      (buffer.cpu == 0 ? of_cpu_0 : of_cpu_3) += chunk.size;
    }
  }
  EXPECT_EQ(of_cpu_0, 12240U);
  EXPECT_EQ(of_cpu_3, 137728U);
  EXPECT_EQ(recording.trace_bytes(), 12240U + 137728U);
  // perf dumps a PSB at the start of CPU 0's trace.
  const auto trace = recording.bytes(recording.aux_buffers()[0].chunks[0]);
  for (std::size_t i = 0; i < 16; i += 2) {
    EXPECT_EQ(trace[i], std::byte{0x02});
    EXPECT_EQ(trace[i + 1], std::byte{0x82});
  }
  std::uint64_t written = 0;
  for (const AuxWrite& write : recording.aux_writes()) {
    EXPECT_FALSE(write.truncated);
    EXPECT_EQ(write.offset, write.cpu == 3 ? written : 0U);
    written += write.cpu == 3 ? write.size : 0;
  }
  EXPECT_EQ(written, 137728U);
}

TEST(RealRecordings, HelloWorldReportsItsHostAndCommand) {
  NEED_TRACES();
  const Recording recording = real("quipper-hello-world");
  EXPECT_EQ(recording.hostname(), "localhost");
  EXPECT_EQ(recording.cpu_id(), "GenuineIntel,6,78,3");
  EXPECT_EQ(
      recording.command_line(),
      (std::vector<std::string>{"/usr/bin/perf", "record", "-e", "cycles", "-e", "intel_pt//", "-o",
                                "/tmp/perf.data.intel_pt-4.14", "--", "echo", "Hello, World!"}));
  ASSERT_EQ(recording.attributes().size(), 4U);
  EXPECT_EQ(recording.attributes()[0].name, "intel_pt//");
  EXPECT_EQ(recording.attributes()[0].config, 0x300e601U);
  EXPECT_EQ(recording.attributes()[1].name, "cycles");
  EXPECT_EQ(recording.attributes()[3].ids, (std::vector<std::uint64_t>{136, 137, 138, 139}));
  for (const Sample& sample : recording.samples()) {
    EXPECT_EQ(sample.attribute, 1U); // all are cycles
    EXPECT_EQ(sample.cpu, -1);       // its layout has no CPU
    EXPECT_EQ(sample.tid, 3174);
  }
  ASSERT_TRUE(recording.intel_pt().has_value());
  EXPECT_EQ(recording.intel_pt()->tsc_ctc_numerator, 100U);
  EXPECT_EQ(recording.intel_pt()->tsc_ctc_denominator, 2U);
  EXPECT_EQ(recording.intel_pt()->max_nonturbo_ratio, 12U);
  EXPECT_EQ(recording.intel_pt()->mtc_freq_bits, 0x3c000U);
  // From perf buildid-list.
  const auto build_ids = recording.build_ids();
  const auto kernel = std::ranges::find(build_ids, "[kernel.kallsyms]", &BuildIdEntry::path);
  ASSERT_NE(kernel, build_ids.end());
  ASSERT_EQ(kernel->build_id.size(), 20U);
  EXPECT_EQ(kernel->build_id[0], 0x67);
  EXPECT_EQ(kernel->build_id[19], 0x42);
}

TEST(RealRecordings, MultiCoreHasTheSwitchesAndTheClockOfPerf) {
  NEED_TRACES();
  const Recording recording = real("lldb-multi-core");
  EXPECT_EQ(recording.switches().size(), 302U);
  expect_same_switches(recording, "lldb-multi-core/truth/perf-switches.txt");
  const TimeConversion& clock = recording.time_conversion();
  EXPECT_TRUE(clock.valid);
  EXPECT_EQ(clock.shift, 31U);
  EXPECT_EQ(clock.multiplier, 1076264588U);
  EXPECT_EQ(clock.zero, 18433473881008870804U);
  // From bc: (18433473881008870804 + tsc * 1076264588 / 2^31) % 2^64 of the two AUXTRACE
  // references. The first one is the time of the first switch record to the nanosecond.
  ASSERT_EQ(recording.aux_buffers().size(), 2U);
  EXPECT_EQ(recording.aux_buffers()[0].cpu, 45);
  EXPECT_EQ(recording.aux_buffers()[0].chunks[0].size, 0xb51U);
  EXPECT_EQ(recording.aux_buffers()[0].chunks[0].reference, 0x8fb51ef40aa1d3U);
  EXPECT_EQ(clock.to_ns(0x8fb51ef40aa1d3), 7002359266274234U);
  EXPECT_EQ(recording.switches()[0].time_ns, 7002359266274235U);
  EXPECT_EQ(recording.aux_buffers()[1].cpu, 51);
  EXPECT_EQ(recording.aux_buffers()[1].chunks[0].size, 0x166aU);
  EXPECT_EQ(clock.to_ns(recording.aux_buffers()[1].chunks[0].reference), 7002363885948916U);
}

TEST(RealRecordings, SingleThreadBuffersBelongToTheirThread) {
  NEED_TRACES();
  const Recording recording = real("lldb-main");
  ASSERT_EQ(recording.aux_buffers().size(), 1U);
  EXPECT_EQ(recording.aux_buffers()[0].cpu, -1);
  EXPECT_EQ(recording.aux_buffers()[0].tid, 3842849);
  EXPECT_EQ(recording.trace_bytes(), 0x1000U);
  ASSERT_EQ(recording.mappings().size(), 1U);
  EXPECT_EQ(recording.mappings()[0].path, "/traced/a.out");
  EXPECT_EQ(recording.mappings()[0].start, 0x400000U);
  ASSERT_EQ(recording.thread_names().size(), 1U);
  EXPECT_EQ(recording.thread_names()[0].name, "a.out");
  EXPECT_EQ(recording.thread_names()[0].pid, 1234);
  EXPECT_EQ(recording.cpu_id(), "GenuineIntel,6,79,1");
}

TEST(RealRecordings, EveryTruncationOfHelloWorldIsRefused) {
  NEED_TRACES();
  const auto path = traces / "quipper-hello-world" / "perf.data";
  const auto size = std::filesystem::file_size(path);
  const auto copy = std::filesystem::temp_directory_path() / "ptlens-test-truncated.data";
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
  for (std::uintmax_t left = size; left > 257; left -= 257) {
    std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
    std::filesystem::resize_file(copy, left - 257);
    const auto recording = Recording::open(copy.string());
    ASSERT_FALSE(recording) << left;
    ASSERT_TRUE(recording.error().offset.has_value());
  }
  std::filesystem::remove(copy);
}

} // namespace
} // namespace ptlens::perfdata
