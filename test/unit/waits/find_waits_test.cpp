// Waits of recordings that are written by hand, with figures that were computed by hand.
#include "symbols/binary_finder.hpp"
#include "waits/find_waits.hpp"
#include "waits/samples.hpp"
#include "waits/scheduler_samples.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>

namespace ptlens::waits {
namespace {

using namespace test; // NOLINT(google-build-using-namespace): the vocabulary of these tests

constexpr std::uint64_t schedule = 0xffffffff81000010;
constexpr std::uint64_t futex = 0xffffffff81001020;
constexpr std::uint64_t sleep = 0xffffffff81002030;
constexpr std::uint64_t hrtimer = 0xffffffff81003040;

KernelNames names() {
  return KernelNames({{0xffffffff81000000, "__schedule"},
                      {0xffffffff81001000, "futex_do_wait"},
                      {0xffffffff81002000, "do_nanosleep"},
                      {0xffffffff81003000, "hrtimer_wakeup"},
                      {0xffffffff81004000, "tail"}});
}

Waits found(const PerfDataBuilder& builder, const KernelNames& kernel = names(),
            std::optional<std::int32_t> pid = std::nullopt) {
  const perfdata::Recording recording = perfdata::opened(builder);
  symbols::BinaryFinder finder(symbols::BinaryFinder::Options{});
  const symbols::AddressSpaces spaces(recording, finder);
  const perfdata::ContextSwitches switches(recording.switches(), recording.thread_names());
  auto waits = find_waits({.recording = recording,
                           .switches = switches,
                           .spaces = spaces,
                           .kernel = kernel,
                           .pid = pid},
                          Progress());
  EXPECT_TRUE(waits.has_value());
  return std::move(waits).value_or(Waits());
}

void switched(PerfDataBuilder& builder, std::int32_t tid, std::uint64_t out, std::uint64_t in,
              bool preempted = false) {
  builder.context_switch(true, preempted, {.time = out, .pid = 7, .tid = tid});
  builder.context_switch(false, false, {.time = in, .pid = 7, .tid = tid});
}

// Thread 8 waits for a lock from 1,000 to 6,000 ns, which thread 9 releases at 5,900 ns.
TEST(FindWaits, JoinsASwitchItsStackAndItsWaking) {
  PerfDataBuilder builder = scheduler_recording();
  builder.comm(7, 9, "rebalance", false, {.time = 1, .pid = 7, .tid = 9});
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 6'000);
  add_waking(builder, 9, 8, 5'900);
  const Waits waits = found(builder);
  ASSERT_EQ(waits.all.size(), 1U);
  const Wait& wait = waits.all[0];
  EXPECT_TRUE(waits.recorded);
  EXPECT_EQ(wait.tid, 8);
  EXPECT_EQ(wait.begin, 1'000U);
  EXPECT_EQ(wait.duration(), 5'000U);
  EXPECT_EQ(wait.reason, Reason::lock);
  EXPECT_FALSE(wait.likely);
  EXPECT_EQ(waits.kernel_functions[wait.kernel], "futex_do_wait");
  EXPECT_EQ(wait.waker.kind, Waker::Kind::thread);
  EXPECT_EQ(wait.waker.tid, 9);
  EXPECT_EQ(wait.waker.time_ns, 5'900U);
  EXPECT_EQ(waits.thread_name(9), "rebalance");
}

// The thread sleeps twice. The second sleep has its own stack and no waking.
TEST(FindWaits, GivesEachWaitItsOwnSampleAndWaking) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 2'000);
  add_waking(builder, 9, 8, 1'500);
  add_switch_out(builder, {.tid = 8, .time = 2'990, .kernel = {schedule, sleep}});
  switched(builder, 8, 3'000, 4'000);
  const Waits waits = found(builder);
  ASSERT_EQ(waits.all.size(), 2U);
  EXPECT_EQ(waits.all[0].reason, Reason::lock);
  EXPECT_EQ(waits.all[0].waker.kind, Waker::Kind::thread);
  EXPECT_EQ(waits.all[1].reason, Reason::sleep);
  EXPECT_EQ(waits.all[1].waker.kind, Waker::Kind::outside);
}

TEST(FindWaits, OfTwoWakingsTheFirstEndedTheWait) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 2'000);
  add_waking(builder, 10, 8, 900); // before it waited
  add_waking(builder, 9, 8, 1'500);
  add_waking(builder, 10, 8, 1'600);
  EXPECT_EQ(found(builder).all.at(0).waker.tid, 9);
}

// Thread 8 has decided to sleep when thread 9 wakes it on another CPU: the waking is recorded
// before the switch. An earlier one found it still running.
TEST(FindWaits, AWakingThatMeetsAThreadOnItsWayOutEndsTheWait) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 99'990, .kernel = {schedule, futex}});
  switched(builder, 8, 100'000, 200'000);
  add_waking(builder, 10, 8, 60'000);
  add_waking(builder, 9, 8, 99'000);
  EXPECT_EQ(found(builder).all.at(0).waker.tid, 9);
}

TEST(FindWaits, AWakingLongBeforeTheSwitchDoesNotEndTheWait) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 99'990, .kernel = {schedule, futex}});
  switched(builder, 8, 100'000, 200'000);
  add_waking(builder, 10, 8, 60'000);
  EXPECT_EQ(found(builder).all.at(0).waker.tid, -1);
}

// The waking at 95,000 ns ended the wait that ends at 97,000 ns, not the next one.
TEST(FindWaits, AWakingEndsOneWaitOnly) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 89'990, .kernel = {schedule, futex}});
  switched(builder, 8, 90'000, 97'000);
  add_waking(builder, 9, 8, 95'000);
  add_switch_out(builder, {.tid = 8, .time = 99'990, .kernel = {schedule, futex}});
  switched(builder, 8, 100'000, 200'000);
  const Waits waits = found(builder);
  EXPECT_EQ(waits.all.at(0).waker.tid, 9);
  EXPECT_EQ(waits.all.at(1).waker.tid, -1);
}

TEST(FindWaits, AWakingInAnInterruptHasNoThread) {
  constexpr std::uint8_t hard_interrupt = 0x08;
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, sleep}});
  switched(builder, 8, 1'000, 2'000);
  add_waking(builder, 9, 8, 1'500, hard_interrupt, {hrtimer});
  const Waker waker = found(builder).all.at(0).waker;
  EXPECT_EQ(waker.kind, Waker::Kind::interrupt);
  EXPECT_EQ(waker.interrupt, Interrupt::timer);
  EXPECT_EQ(waker.tid, -1);
}

// Thread 8 of process 7 waits three times. A recording of all processes has the wakings by thread
// 34 of process 33, by the idle thread, and none of the third wait.
TEST(FindWaits, ARecordingOfAllProcessesNamesWakersOutside) {
  PerfDataBuilder builder = scheduler_recording();
  builder.comm(33, 33, "database", false, {.time = 1, .pid = 33, .tid = 33});
  builder.comm(33, 34, "connection", false, {.time = 1, .pid = 33, .tid = 34});
  for (std::uint64_t begin = 1'000; begin <= 5'000; begin += 2'000) {
    add_switch_out(builder, {.tid = 8, .time = begin - 10, .kernel = {schedule, futex}});
    switched(builder, 8, begin, begin + 1'000);
    if (begin == 1'000) {
      add_waking(builder, 34, 8, begin + 900, 0, {}, 33);
    } else if (begin == 3'000) {
      add_waking(builder, 0, 8, begin + 900, 0, {}, 0);
    }
  }
  const Waits waits = found(builder);
  ASSERT_EQ(waits.all.size(), 3U);
  EXPECT_EQ(waits.all[0].waker.kind, Waker::Kind::thread);
  EXPECT_EQ(waits.all[0].waker.tid, 34);
  EXPECT_EQ(waits.all[0].waker.other_pid, 33);
  EXPECT_EQ(waits.thread_name(33), "database");
  EXPECT_EQ(waits.all[1].waker.kind, Waker::Kind::interrupt);
  EXPECT_EQ(waits.all[1].waker.other_pid, -1);
  EXPECT_EQ(waits.all[2].waker.kind, Waker::Kind::unknown);
}

// Of two waits, only the first has a record of its waking. All wakings are recorded, so that a
// missing one says nothing.
TEST(FindWaits, AMissingWakingIsUnknownWhereThoseOnAllCpusAreRecorded) {
  PerfDataBuilder builder = scheduler_recording(true);
  for (const std::uint64_t begin : {1'000U, 3'000U}) {
    add_switch_out(builder, {.tid = 8, .time = begin - 10, .kernel = {schedule, futex}});
    switched(builder, 8, begin, begin + 1'000);
  }
  add_waking(builder, 9, 8, 1'500);
  const Waits waits = found(builder);
  EXPECT_EQ(waits.all.at(0).waker.kind, Waker::Kind::thread);
  EXPECT_EQ(waits.all.at(1).waker.kind, Waker::Kind::unknown);
}

// Thread 9 began just now, so that the filter does not know it: both events have its waking.
TEST(FindWaits, AWakingThatBothEventsHaveIsTheOneOfItsThread) {
  PerfDataBuilder builder = scheduler_recording(true);
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 2'000);
  add_outside_waking(builder, 9, 7, 8, 1'500);
  add_waking(builder, 9, 8, 1'503);
  const Waits waits = found(builder);
  EXPECT_EQ(waits.all.at(0).waker.tid, 9);
  EXPECT_EQ(waits.all.at(0).waker.other_pid, -1);
  EXPECT_EQ(waits.all.at(0).waker.time_ns, 1'503U);
}

// Thread 33 sends over the loopback device. Its own system call delivers the packet, in a software
// interrupt. A hardware interrupt that arrives meanwhile is no work of thread 33.
TEST(FindWaits, ASenderOverLoopbackIsTheWakerAndAnInterruptedOneIsNot) {
  constexpr std::uint8_t software_interrupt = 0x10;
  const KernelNames kernel({{0x1000, "__schedule"},
                            {0x2000, "sk_wait_data"},
                            {0x3000, "tcp_v4_rcv"},
                            {0x4000, "process_backlog"},
                            {0x5000, "net_rx_action"},
                            {0x6000, "__local_bh_enable_ip"},
                            {0x7000, "tcp_sendmsg"},
                            {0x8000, "__irq_exit_rcu"},
                            {0x9000, "virtnet_poll"}});
  const std::vector<std::uint64_t> own = {0x3001, 0x4001, 0x5001, 0x6001, 0x7001};
  const std::vector<std::uint64_t> interrupted = {0x3001, 0x4001, 0x5001, 0x8001, 0x7001};
  const std::vector<std::uint64_t> of_device = {0x3001, 0x9001, 0x5001, 0x6001, 0x7001};
  PerfDataBuilder builder = scheduler_recording(true);
  builder.comm(33, 33, "client", false, {.time = 1, .pid = 33, .tid = 33});
  std::uint64_t begin = 1'000;
  for (const auto& stack : {own, interrupted, of_device}) {
    add_switch_out(builder, {.tid = 8, .time = begin - 10, .kernel = {0x1001, 0x2001}});
    switched(builder, 8, begin, begin + 1'000);
    add_outside_waking(builder, 33, 33, 8, begin + 900, software_interrupt, stack);
    begin += 2'000;
  }
  const Waits waits = found(builder, kernel);
  ASSERT_EQ(waits.all.size(), 3U);
  EXPECT_EQ(waits.all[0].waker.kind, Waker::Kind::thread);
  EXPECT_EQ(waits.all[0].waker.other_pid, 33);
  for (const std::size_t at : {1U, 2U}) {
    EXPECT_EQ(waits.all[at].waker.kind, Waker::Kind::interrupt);
    EXPECT_EQ(waits.all[at].waker.interrupt, Interrupt::network);
    EXPECT_EQ(waits.all[at].waker.tid, -1);
  }
}

TEST(FindWaits, AWakerOfTheSameProcessIsNotOutside) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 2'000);
  add_waking(builder, 9, 8, 1'500);
  EXPECT_EQ(found(builder).all.at(0).waker.other_pid, -1);
}

// No record names thread 55, which began before the recording: its switch does.
TEST(FindWaits, SwitchesNameThreadsOfOtherProcesses) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 2'000);
  add_sample(builder, switch_id, 55, 1'400, {schedule}, switch_payload({.tid = 55, .time = 1'400}),
             44);
  EXPECT_EQ(found(builder, names(), 7).thread_name(55), "app");
}

TEST(FindWaits, APreemptedThreadNamesTheOneThatGotTheCpu) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder,
                 {.tid = 8, .time = 990, .state = 0, .next_tid = 55, .next_name = "compiler"});
  switched(builder, 8, 1'000, 2'000, true);
  const Waits waits = found(builder);
  EXPECT_EQ(waits.all.at(0).reason, Reason::preempted);
  EXPECT_EQ(waits.all.at(0).next_tid, 55);
  EXPECT_EQ(waits.thread_name(55), "compiler");
  EXPECT_EQ(waits.all.at(0).waker.kind, Waker::Kind::unknown);
}

TEST(FindWaits, WithoutTracepointsOnlyPreemptionIsKnown) {
  PerfDataBuilder builder;
  switched(builder, 8, 1'000, 2'000);
  switched(builder, 8, 3'000, 4'000, true);
  const Waits waits = found(builder);
  EXPECT_FALSE(waits.recorded);
  ASSERT_EQ(waits.all.size(), 2U);
  EXPECT_EQ(waits.all[0].reason, Reason::unknown);
  EXPECT_EQ(waits.all[1].reason, Reason::preempted);
  EXPECT_EQ(waits.all[0].waker.kind, Waker::Kind::unknown);
}

TEST(FindWaits, AWaitUntilTheEndOfTheRecordingIsUnfinishedAndTheEndOfAThreadIsNone) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  builder.context_switch(true, false, {.time = 1'000, .pid = 7, .tid = 8});
  add_switch_out(builder, {.tid = 9, .time = 1'990, .state = 0x10});
  builder.context_switch(true, false, {.time = 2'000, .pid = 7, .tid = 9});
  const Waits waits = found(builder);
  ASSERT_EQ(waits.all.size(), 1U);
  EXPECT_TRUE(waits.all[0].unfinished);
  EXPECT_EQ(waits.all[0].duration(), 1'000U);
}

TEST(FindWaits, CountsStacksOfAKernelWithoutNames) {
  PerfDataBuilder builder = scheduler_recording();
  add_switch_out(builder, {.tid = 8, .time = 990, .kernel = {schedule, futex}});
  switched(builder, 8, 1'000, 2'000);
  const Waits waits = found(builder, KernelNames());
  EXPECT_EQ(waits.all.at(0).reason, Reason::unknown);
  EXPECT_EQ(waits.without_names, 1U);
}

TEST(FindWaits, OnlyTheRequestedProcessCounts) {
  PerfDataBuilder builder = scheduler_recording();
  switched(builder, 8, 1'000, 2'000);
  builder.context_switch(true, false, {.time = 1'000, .pid = 70, .tid = 70});
  builder.context_switch(false, false, {.time = 3'000, .pid = 70, .tid = 70});
  EXPECT_EQ(found(builder).all.size(), 2U);
  const Waits waits = found(builder, names(), 70);
  ASSERT_EQ(waits.all.size(), 1U);
  EXPECT_EQ(waits.all[0].tid, 70);
}

TEST(WaitSamples, ShortPayloadsAreRefused) {
  const Bytes out = switch_payload({.tid = 8, .next_tid = 9});
  ASSERT_EQ(out.size(), 64U);
  EXPECT_TRUE(switch_fields(out.bytes()));
  EXPECT_FALSE(switch_fields(out.bytes().first(59)));
  const Bytes waking = waking_payload(9, 8, 0);
  EXPECT_EQ(waking_fields(waking.bytes())->tid, 8);
  EXPECT_FALSE(waking_fields(waking.bytes().first(27)));
  EXPECT_FALSE(waking_fields({}));
}

// Registers 0, 1, 8 and 9 of a sample: the ninth is the instruction pointer.
TEST(WaitSamples, ThePlaceIsTheInstructionPointer) {
  const std::array<std::uint64_t, 4> values = {1, 2, 0x401000, 4};
  const auto bytes = std::as_bytes(std::span(values));
  EXPECT_EQ(user_place(bytes, 0x303), 0x401000U);
  EXPECT_EQ(user_place(bytes, 0x203), std::nullopt);
  EXPECT_EQ(user_place(bytes.first(16), 0x303), std::nullopt);
}

TEST(WaitSamples, APreemptedThreadIsRunnableWhateverItsState) {
  EXPECT_TRUE(switch_fields(switch_payload({.state = 0}).bytes())->is_runnable());
  EXPECT_TRUE(switch_fields(switch_payload({.state = 0x101}).bytes())->is_runnable());
  EXPECT_FALSE(switch_fields(switch_payload({.state = 2}).bytes())->is_runnable());
  EXPECT_TRUE(switch_fields(switch_payload({.state = 0x20}).bytes())->is_dead());
}

TEST(Waits, OverlapIsHalfOpen) {
  Waits waits;
  for (const std::uint64_t begin : {1'000U, 3'000U, 5'000U}) {
    waits.all.push_back({.tid = 8, .begin = begin, .end = begin + 500});
  }
  waits.all.push_back({.tid = 9, .begin = 0, .end = 9'000});
  EXPECT_EQ(waits.of_thread(8).size(), 3U);
  EXPECT_EQ(waits.within(8, 1'500, 3'000).size(), 0U);
  EXPECT_EQ(waits.within(8, 1'499, 3'001).size(), 2U);
  EXPECT_EQ(waits.within(8, 0, 9'000).size(), 3U);
  EXPECT_EQ(waits.within(7, 0, 9'000).size(), 0U);
}

} // namespace
} // namespace ptlens::waits
