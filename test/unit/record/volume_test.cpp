// What is changed so that a recording fits: rates and room in round numbers, limits worked out by
// hand (perf takes 200 MB/s out of the buffers, four fifths of the disk may be filled).
#include "record/perf/volume.hpp"
#include "record/probes/probe_cost.hpp"
#include "record/probes/probe_plan.hpp"
#include "record/probes/slow_call_watch.hpp"
#include "record/summary.hpp"
#include "record_test_support.hpp"

#include <thread>

namespace ptlens::record::test {
namespace {

constexpr std::uint64_t mb = 1'000'000;

Request two_seconds() {
  Request request;
  request.pid = 42;
  request.function = "f";
  request.duration_s = 2;
  return request;
}

Volume rate_of(std::uint64_t mb_a_second) {
  return {.seconds = 0.05, .bytes = mb_a_second * mb / 20};
}

TEST(Volume, ThatFitsChangesNothing) {
  const Room room{.buffer_bytes = 128 * mb, .disk_bytes = 10'000 * mb, .may_filter = true};
  const VolumeChoice choice = choose_volume(two_seconds(), rate_of(150), room);
  EXPECT_FALSE(choice.filter || choice.duration_s || choice.thread);
  EXPECT_TRUE(choice.reasons.empty());
  EXPECT_TRUE(choose_volume(two_seconds(), {}, room).reasons.empty());
}

TEST(Volume, TheFilterComesFirst) {
  const Room room{.buffer_bytes = 128 * mb, .disk_bytes = 10'000 * mb, .may_filter = true};
  const VolumeChoice choice = choose_volume(two_seconds(), rate_of(500), room);
  EXPECT_TRUE(choice.filter); // a fifth is 100 MB/s, which fits
  EXPECT_FALSE(choice.duration_s);
  ASSERT_EQ(choice.reasons.size(), 1U);
  EXPECT_NE(choice.reasons.front().find("50 ms made 25.0 MB of trace, so 2.0 s would make 1000 MB"),
            std::string::npos)
      << choice.reasons.front();
}

TEST(Volume, ElseTheTimeIsShortened) {
  // 300 MB/s more than is drained fill 150 MB in half a second.
  const Room buffers{.buffer_bytes = 150 * mb, .disk_bytes = 10'000 * mb};
  const VolumeChoice by_buffers = choose_volume(two_seconds(), rate_of(500), buffers);
  EXPECT_FALSE(by_buffers.filter || by_buffers.thread);
  EXPECT_NEAR(by_buffers.duration_s.value_or(0), 0.5, 1e-9);
  // Of 100 MB four fifths are filled by 80 MB/s in one second.
  const Room disk{.buffer_bytes = 150 * mb, .disk_bytes = 100 * mb};
  EXPECT_NEAR(choose_volume(two_seconds(), rate_of(80), disk).duration_s.value_or(0), 1, 1e-9);
}

TEST(Volume, ElseTheBusiestThreadIsLeft) {
  const Room room{.buffer_bytes = 10 * mb, .disk_bytes = 10'000 * mb};
  Volume volume = rate_of(1000); // 12.5 ms until the buffers are full
  volume.busiest = 43;
  volume.busiest_share = 0.15;
  const VolumeChoice choice = choose_volume(two_seconds(), volume, room);
  EXPECT_EQ(choice.thread, 43); // 150 MB/s are drained as they come
  EXPECT_NEAR(choice.duration_s.value_or(0), 2, 1e-9);
  volume.busiest_share = 1;
  EXPECT_FALSE(choose_volume(two_seconds(), volume, room).thread);
  EXPECT_NEAR(choose_volume(two_seconds(), volume, room).duration_s.value_or(0), 0.1, 1e-9);
}

TEST(Volume, AFullBufferInTheProbeIsTooMuchAtAnyRate) {
  const Room room{.buffer_bytes = 128 * mb, .disk_bytes = 10'000 * mb, .may_filter = true};
  Volume volume = rate_of(10);
  volume.truncated = true;
  EXPECT_TRUE(choose_volume(two_seconds(), volume, room).filter);
}

TEST(CallTimer, PairsByThreadAndStackPointer) {
  CallTimer timer;
  EXPECT_FALSE(timer.add(1, 100, false, 5)); // its start was not seen
  EXPECT_FALSE(timer.add(1, 100, true, 10));
  EXPECT_FALSE(timer.add(2, 100, true, 11));
  EXPECT_FALSE(timer.add(1, 80, true, 20)); // recursion
  EXPECT_EQ(timer.add(1, 80, false, 25), 5U);
  EXPECT_EQ(timer.add(1, 100, false, 40), 30U);
  EXPECT_EQ(timer.add(2, 100, false, 111), 100U);
  // An exception ended the inner call without an exit.
  EXPECT_FALSE(timer.add(1, 100, true, 50));
  EXPECT_FALSE(timer.add(1, 80, true, 60));
  EXPECT_EQ(timer.add(1, 100, false, 70), 20U);
  // And then the call itself: the next one takes its place.
  EXPECT_FALSE(timer.add(1, 100, true, 80));
  EXPECT_FALSE(timer.add(1, 100, true, 90));
  EXPECT_EQ(timer.add(1, 100, false, 92), 2U);
  EXPECT_FALSE(timer.add(1, 100, false, 93));
}

TEST(ProbeCost, KnowsWhatTheKernelEmulates) {
  const auto emulated = [](std::vector<unsigned char> code) {
    return is_emulated(std::as_bytes(std::span(code)));
  };
  EXPECT_TRUE(emulated({0x55}));                    // push %rbp
  EXPECT_TRUE(emulated({0x41, 0x57}));              // push %r15
  EXPECT_TRUE(emulated({0xeb, 0x02}));              // jmp
  EXPECT_TRUE(emulated({0x0f, 0x84, 0, 0}));        // je
  EXPECT_TRUE(emulated({0x90}));                    // nop
  EXPECT_FALSE(emulated({0xc3}));                   // ret
  EXPECT_FALSE(emulated({0x48, 0x83, 0xec, 0x08})); // sub $8,%rsp
  EXPECT_FALSE(emulated({0xf3, 0x0f, 0x1e, 0xfa})); // endbr64
  EXPECT_FALSE(emulated({}));
}

class SlowCalls : public ProbeTest {};

TEST_F(SlowCalls, WhatAHitCostsIsMeasured) {
  const TemporaryFolder folder;
  const auto cost =
      measure_probe_cost(read_machine(""), find_program("perf"), folder / "calibration");
  ASSERT_TRUE(cost) << cost.error().one_line();
  EXPECT_GT(cost->calls, 0U);
  // Two traps are dearer than one, and a call's own latency holds less than its two hits take.
  EXPECT_GT(cost->stepped.hit_ns, 0);
  EXPECT_GT(cost->stepped.latency_ns, cost->emulated.latency_ns);
  EXPECT_LT(cost->stepped.latency_ns, 2 * cost->stepped.hit_ns);
  EXPECT_FALSE(std::filesystem::exists(folder / "calibration"));
}

TEST_F(SlowCalls, TheOneSlowCallOfAThousandIsSeen) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", R"(
    #include <unistd.h>
    extern "C" __attribute__((noipa)) int work(int x) { if (x == 700) usleep(300000); return x + 1; }
    int main() { int sum = 0; usleep(200000); for (int i = 0; i < 1000; ++i) sum += work(i); return sum == 7; }
  )");
  Request request;
  request.program = {program};
  request.function = "work";
  request.snapshot = true;
  request.slower_than_ns = 200'000'000;
  auto watch = SlowCallWatch::start(request, read_machine(""));
  ASSERT_TRUE(watch) << watch.error().one_line();
  Running running({program});
  std::vector<SlowCall> caught;
  bool alive = true;
  for (int after = 0; after < 20; after += alive ? 0 : 1) { // a while longer than it runs
    alive = alive && running.alive();
    if (const auto slow = watch->poll()) {
      caught.push_back(*slow);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ASSERT_EQ(caught.size(), 1U);
  EXPECT_EQ(caught.front().tid, running.pid());
  EXPECT_GE(caught.front().latency_ns, 300'000'000U);
  EXPECT_EQ(watch->calls(), 1000U);
}

TEST_F(SlowCalls, TheSummarySaysWhatWasRecorded) {
  const TemporaryFolder folder;
  const std::string program = folder.compile("program", R"(
    extern "C" __attribute__((noipa)) int work(int x) { return x + 1; }
    int main() { int x = 0; for (int i = 0; i < 50; ++i) x = work(x); return 0; }
  )");
  const auto outcome = record_program(folder, {program}, "work");
  ASSERT_TRUE(outcome) << outcome.error().one_line();
  EXPECT_EQ(outcome->summary.target, "program " + program);
  EXPECT_EQ(outcome->summary.hits, 100U);
  EXPECT_EQ(outcome->summary.threads, 1U);
  EXPECT_EQ(outcome->summary.lost_records, 0U);
  EXPECT_TRUE(outcome->summary.advice.empty());
}

} // namespace
} // namespace ptlens::record::test
