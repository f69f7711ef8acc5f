// Off-CPU intervals and owners of CPUs, from switch records. The expected sums are computed by
// hand.
#include "perfdata/contents/context_switches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ptlens::perfdata {
namespace {

Switch out(std::uint64_t time, std::int32_t tid, std::int32_t cpu, bool preempted,
           std::int32_t next = -1) {
  return {time, tid, tid, cpu, true, preempted, next, next};
}

Switch in(std::uint64_t time, std::int32_t tid, std::int32_t cpu, std::int32_t previous = -1) {
  return {time, tid, tid, cpu, false, false, previous, previous};
}

TEST(ContextSwitches, SplitsOffCpuIntoBlockedAndPreempted) {
  const std::vector<Switch> records = {
      out(100, 7, 0, false), in(150, 7, 0), // blocked 50
      out(200, 7, 0, true),  in(230, 7, 1), // preempted 30
      out(300, 7, 1, false), in(400, 7, 1), // blocked 100
  };
  const ContextSwitches context_switches(records);
  ASSERT_TRUE(context_switches.known());

  const OffCpu all = context_switches.off_cpu(7, 0, 1000);
  EXPECT_EQ(all.total_ns(), 180U);
  EXPECT_EQ(all.blocked_ns, 150U);
  EXPECT_EQ(all.preempted_ns, 30U);
  EXPECT_EQ(all.switches, 3U);

  const OffCpu middle = context_switches.off_cpu(7, 160, 250);
  EXPECT_EQ(middle.total_ns(), 30U);
  EXPECT_EQ(middle.preempted_ns, 30U);
  EXPECT_EQ(middle.switches, 1U);
}

TEST(ContextSwitches, CutsIntervalsAtTheEndsOfTheQuestion) {
  const std::vector<Switch> records = {out(100, 7, 0, false), in(200, 7, 0), out(300, 7, 0, true),
                                       in(500, 7, 0)};
  const ContextSwitches context_switches(records);

  const OffCpu both_ends = context_switches.off_cpu(7, 150, 350);
  EXPECT_EQ(both_ends.blocked_ns, 50U);
  EXPECT_EQ(both_ends.preempted_ns, 50U);
  EXPECT_EQ(both_ends.switches, 1U); // the first began before

  const OffCpu inside_one = context_switches.off_cpu(7, 120, 180);
  EXPECT_EQ(inside_one.total_ns(), 60U);
  EXPECT_EQ(inside_one.switches, 0U);

  EXPECT_EQ(context_switches.off_cpu(7, 200, 300).total_ns(), 0U);
  EXPECT_EQ(context_switches.off_cpu(7, 350, 350).total_ns(), 0U);
  EXPECT_EQ(context_switches.off_cpu(8, 0, 1000).total_ns(), 0U);
}

TEST(ContextSwitches, CountsAThreadThatNeverCameBack) {
  const std::vector<Switch> records = {out(100, 7, 0, false)};
  EXPECT_EQ(ContextSwitches(records).off_cpu(7, 50, 350).blocked_ns, 250U);
}

TEST(ContextSwitches, SixSecondsOfSleepAreSixSeconds) {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::vector<Switch> records = {out(1 * second, 7, 0, false), in(7 * second, 7, 0)};
  EXPECT_EQ(ContextSwitches(records).off_cpu(7, 0, 10 * second).total_ns(), 6 * second);
}

TEST(ContextSwitches, WithoutRecordsOffCpuIsUnknown) {
  EXPECT_FALSE(ContextSwitches({}).known());
}

TEST(ContextSwitches, AProgramThatWasNeverSwitchedOutWasOnItsCpuAllTheTime) {
  const ContextSwitches context_switches({}, {}, true);
  EXPECT_TRUE(context_switches.known());
  EXPECT_EQ(context_switches.off_cpu(7, 0, 1000).total_ns(), 0U);
}

TEST(ContextSwitches, FindsTheRunningThread) {
  const std::vector<Switch> records = {out(100, 7, 3, false, 0), in(100, 0, 3, 7),  // 7 to idle
                                       out(200, 0, 3, false, 9), in(201, 9, 3, 0),  // idle to 9
                                       out(300, 9, 3, true, 7),  in(301, 7, 3, 9)}; // 9 to 7
  const ContextSwitches context_switches(records);
  EXPECT_EQ(context_switches.running(3, 50).tid, 7);  // before the first record
  EXPECT_EQ(context_switches.running(3, 150).tid, 0); // idle
  EXPECT_EQ(context_switches.running(3, 250).tid, 9);
  EXPECT_EQ(context_switches.running(3, 400).tid, 7);
  EXPECT_EQ(context_switches.running(4, 400).tid, -1);
}

TEST(ContextSwitches, WithRecordsOfTheTracedThreadsAloneTheNextOneInOwnsTheCpu) {
  const std::vector<Switch> records = {in(100, 7, 0), out(200, 7, 0, false), in(300, 8, 0),
                                       out(400, 8, 0, false)};
  const ContextSwitches context_switches(records);
  EXPECT_EQ(context_switches.running(0, 150).tid, 7);
  EXPECT_EQ(context_switches.running(0, 295).tid, 8); // its trace began a little before its record
}

TEST(ContextSwitches, AThreadRunsUntilTheNextRecordOfItsCpu) {
  const std::vector<Switch> records = {in(100, 7, 0), in(120, 9, 1), out(200, 7, 0, false),
                                       in(300, 8, 0)};
  const ContextSwitches context_switches(records);
  EXPECT_EQ(context_switches.running_until(0, 100), 200U);
  EXPECT_EQ(context_switches.running_until(0, 199), 200U);
  EXPECT_EQ(context_switches.running_until(0, 250), 0U); // no thread is known to run
  EXPECT_EQ(context_switches.running_until(0, 300), UINT64_MAX);
  EXPECT_EQ(context_switches.running_until(1, 150), UINT64_MAX);
  EXPECT_EQ(context_switches.running_until(2, 150), 0U); // no record of that CPU
}

// Thread 8 of process 7 executes another program while the first thread sleeps: no record reports a
// switch between the two ids.
TEST(ContextSwitches, AThreadThatBecomesAnotherProgramOwnsItsCpuUnderTheProcessId) {
  std::vector<Switch> records = {out(100, 7, 0, false, 8), in(101, 8, 0, 7),
                                 out(900, 7, 0, false, 0)};
  records[1].pid = 7;
  const std::vector<ThreadName> names = {
      {.time_ns = 500, .pid = 7, .tid = 7, .name = "next", .exec = true}};
  const ContextSwitches context_switches(records, names);
  EXPECT_EQ(context_switches.running(0, 499).tid, 8);
  EXPECT_EQ(context_switches.running(0, 500).tid, 7);
  EXPECT_EQ(context_switches.off_cpu(7, 0, 900).blocked_ns, 400U); // 100 .. 500
}

// The answer of the first records about a time counts if no later record can change it.
TEST(ContextSwitches, AgreesWithMoreRecordsBeforeTheFirstDifference) {
  std::mt19937 random(7);
  std::uint64_t agreed = 0;
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::vector<Switch> records;
    for (std::uint64_t time = 10; records.size() < 12; time += 1 + random() % 20) {
      const auto tid = static_cast<std::int32_t>(random() % 3);
      const auto cpu = static_cast<std::int32_t>(random() % 2);
      records.push_back(random() % 2 == 0 ? in(time, tid, cpu) : out(time, tid, cpu, false));
    }
    const std::size_t known = random() % (records.size() + 1);
    std::vector<Switch> first(records.begin(),
                              records.begin() + static_cast<std::ptrdiff_t>(known));
    if (random() % 2 == 0 && !first.empty()) { // a record is late
      first.erase(first.begin() + static_cast<std::ptrdiff_t>(random() % first.size()));
    }
    const ContextSwitches early(first);
    const ContextSwitches whole(records);
    for (const std::int32_t cpu : {0, 1}) {
      const std::uint64_t before = early.agrees_before(whole, cpu);
      for (std::uint64_t time = 0; time < std::min<std::uint64_t>(before, 300); ++time) {
        ASSERT_EQ(early.running(cpu, time), whole.running(cpu, time)) << repeat << ": " << time;
        ++agreed;
      }
    }
  }
  EXPECT_GT(agreed, 10'000U);
}

} // namespace
} // namespace ptlens::perfdata
