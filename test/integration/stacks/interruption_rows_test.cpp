// Calls that the kernel interrupts: signals, system calls, sleep, and the ends of the trace. The
// expected numbers of each sample are those of its own loops.
#include "sample_runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptlens::stacks::testing {
namespace {

class InterruptionRows : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_samples();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }
};

const std::vector<Edge> signal_edges{{"interrupted_by_call", "main", complete, false, 2},
                                     {"interrupted_twice", "main", complete, false, 2},
                                     {"undefined", "main", complete, false, 2},
                                     {"touch", "main", complete, false, 1},
                                     {"tries", "main", complete, false, 2},
                                     {"left", "tries", unwound, false, 2},
                                     {"outer_handler", "[signal]", complete, false, 2},
                                     {"mending_handler", "[signal]", complete, false, 1},
                                     {"skipping_handler", "[signal]", complete, false, 2},
                                     {"leaving_handler", "[signal]", unwound, false, 2},
                                     {"helper", "outer_handler", complete, false, 2},
                                     {"helper", "skipping_handler", complete, false, 2},
                                     {"helper", "leaving_handler", complete, false, 2}};

TEST_F(InterruptionRows, SignalHandlersHaveAStackOfTheirOwnAboveTheInterruptedCall) {
  for_each_run({.source = "signals.c"}, all_variants(), [](const SampleRun& run) {
    std::vector<Edge> edges = signal_edges;
    edges.insert(edges.end(), {{"plain_handler", "[signal]", complete, false, 4},
                               {"helper", "plain_handler", complete, false, 4}});
    expect_calls(run, edges);
    expect_truth(run);
    expect_time_adds_up(run);
    const CallTable& table = run.measurement->calls;
    // The time of the handler is not self time of the interrupted function.
    for (const char* name : {"touch", "undefined"}) {
      for (const std::uint32_t call : run.calls(name)) {
        EXPECT_LT(table.self(call), table.latency[call] / 2) << name;
      }
    }
    // Each handler has a signal, above a function that was interrupted.
    const auto signals = run.calls("[signal]");
    EXPECT_EQ(signals.size(), 11U);
    for (const std::uint32_t signal : signals) {
      EXPECT_NE(run.caller(signal), "");
    }
  });
}

TEST_F(InterruptionRows, TwoSignalsAtOnceRunOneAfterTheOther) {
  const Sample sample{.source = "signals.c", .arguments = {"both"}};
  for_each_run(sample, few_variants(), [](const SampleRun& run) {
    std::vector<Edge> edges = signal_edges;
    edges.insert(edges.end(), {{"plain_handler", "[signal]", complete, false, 6},
                               {"helper", "plain_handler", complete, false, 6},
                               {"both_at_once", "main", complete, false, 1}});
    expect_calls(run, edges);
    expect_time_adds_up(run);
  });
}

TEST_F(InterruptionRows, CallsGoOnOverSystemCalls) {
  for_each_run({.source = "system_calls.c"}, all_variants(), [](const SampleRun& run) {
    expect_calls(run, {{"asks", "main", complete, false, 4},
                       {"before", "asks", complete, false, 4},
                       {"after", "asks", complete, false, 4},
                       {"syscall", "asks", complete, false, 12},
                       {"naps", "main", complete, false, 1},
                       {"before", "naps", complete, false, 1},
                       {"after", "naps", complete, false, 1}});
    expect_truth(run);
    expect_time_adds_up(run);
    EXPECT_EQ(run.measurement->recording.gaps, 0U);
    EXPECT_EQ(run.measurement->recording.lost_ns, 0U);
  });
}

// The simulated clock passes 2,000 times what the program sleeps: 3 ms.
TEST_F(InterruptionRows, SixSecondsOfSleepAreSixSecondsOffCpu) {
  Sample sample{.source = "system_calls.c"};
  sample.record.insert(sample.record.end(), {"--wait-scale", "2000"});
  for_each_run(sample, few_variants(), [](const SampleRun& run) {
    const auto naps = run.calls("naps");
    ASSERT_EQ(naps.size(), 1U);
    const auto slept = std::ranges::find(run.truth, "naps", &TruthCall::symbol);
    ASSERT_NE(slept, run.truth.end());
    constexpr std::uint64_t six_seconds = 6'000'000'000;
    EXPECT_GE(slept->off_cpu, six_seconds);
    const CallTable& table = run.measurement->calls;
    EXPECT_EQ(table.off_cpu(naps[0]), slept->off_cpu);
    EXPECT_GE(table.latency[naps[0]], slept->off_cpu);
    EXPECT_EQ(table.state[naps[0]], complete);
    expect_time_adds_up(run);
  });
}

// Three threads run on two processors, each of them on both.
TEST_F(InterruptionRows, ThreadsThatAreMovedBetweenProcessorsKeepTheirCalls) {
  Sample sample{.source = "migrates.c", .flags = {"-pthread"}};
  sample.record.insert(sample.record.end(), {"--cpus", "2", "--slice", "1000"});
  std::vector<Variant> variants = few_variants();
  variants.resize(1);
  for_each_run(sample, variants, [](const SampleRun& run) {
    expect_calls(run, {{"works", "start_thread", complete, false, 3},
                       {"deep", "works", complete, false, 36},
                       {"deep", "deep", complete, false, 252}});
    expect_time_adds_up(run);
    EXPECT_EQ(run.measurement->recording.gaps, 0U);
    const CallTable& table = run.measurement->calls;
    for (const std::uint32_t call : run.calls("works")) {
      EXPECT_GT(table.switches[call], 0U);
    }
  });
}

TEST_F(InterruptionRows, CallsThatBeginBeforeTheTraceOrEndAfterItAreIncomplete) {
  Sample sample{.source = "edges.c"};
  sample.record = {"--start-at", "inner", "--stop-at", "stop_here"};
  for_each_run(sample, all_variants(), [](const SampleRun& run) {
    expect_calls(run, {{"leaf", "inner", complete, false, 2},
                       {"leaf", "outer", complete, false, 1},
                       {"leaf", "main", complete, false, 1},
                       {"leaf", "last_one", complete, false, 1},
                       {"inner", "outer", incomplete, false, 1},
                       {"outer", "main", incomplete, false, 1},
                       {"main", "", incomplete, false, 1},
                       {"last_one", "main", incomplete, false, 1},
                       {"stop_here", "last_one", incomplete, false, 1}});
    expect_time_adds_up(run);
    const ThreadInfo& thread = run.measurement->threads.front();
    for (const TruthCall& call : run.truth) {
      const auto ours = run.calls(call.symbol);
      if (call.state != "incomplete" || ours.size() != 1) {
        continue;
      }
      // The time shown is no more than the traced time of the call.
      const CallTable& table = run.measurement->calls;
      EXPECT_GE(table.start[ours[0]], thread.first_ns) << call.symbol;
      EXPECT_LE(run.end(ours[0]), thread.last_ns) << call.symbol;
    }
  });
}

} // namespace
} // namespace ptlens::stacks::testing
