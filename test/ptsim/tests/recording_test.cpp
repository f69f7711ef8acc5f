// Recordings of small programs, judged by perf's decoder, by the stepped branches and by
// arithmetic: each program calls its functions a number of times that its source says.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

namespace ptlens::ptsim::testing {
namespace {

// main: 12 × (tail ⇒ leaf), recurse 8 levels deep, each with a leaf, but the innermost; 30 numbers
// sorted by libc's qsort; 5 × catcher, which throws for odd numbers; one signal; one sleep of 3 ms.
constexpr const char* calls_program = R"(
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
volatile int compared = 0, handled = 0, slept = 0;
std::jmp_buf back;
OWN int leaf(int x) { return x * 3 + 1; }
OWN int tail(int x) { return leaf(x + 1); }
OWN int recurse(int n) { return n == 0 ? 1 : recurse(n - 1) + leaf(n); }
OWN int compare(const void* a, const void* b) { compared = compared + 1; return *(const int*)a - *(const int*)b; }
OWN void thrower(int x) { if (x % 2) throw x; }
OWN int catcher(int x) { try { thrower(x); } catch (int y) { return y; } return 0; }
OWN void handler(int) { handled = handled + 1; }
OWN int jumper(int n) { if (n == 0) std::longjmp(back, 1); const int below = jumper(n - 1); handled = handled + 1; return below; }
OWN int lander() { if (setjmp(back) == 0) jumper(3); return 7; }
OWN void sleeper() { usleep(3000); slept = slept + 1; }
int main() {
  int numbers[30];
  for (int i = 0; i < 30; ++i) numbers[i] = i * 7919 % 101;
  int sum = 0;
  for (int i = 0; i < 12; ++i) sum += tail(i);
  sum += recurse(8);
  qsort(numbers, 30, sizeof(int), compare);
  for (int i = 0; i < 5; ++i) sum += catcher(i);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  sum += lander();
  sleeper();
  static char text[20];
  const int length = snprintf(text, sizeof text, "%d\n", (int)compared);
  return write(1, text, length) == length && handled == 1 && sum > 0 ? 3 : 1;
}
)";

class CallsRecording : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    why_not = why_no_recordings();
    if (!why_not.empty()) {
      return;
    }
    folder = std::make_unique<TemporaryFolder>();
    program = *folder / "calls";
    compile(std::string("#include <cstdio>\n") + calls_program, program);
    recording = record(*folder / "perf.data", cycle_accurate,
                       {"--per-thread", "--switch-events", "--start-at", "main"}, {program});
  }
  static void TearDownTestSuite() { folder.reset(); }
  void SetUp() override {
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }

  static std::size_t complete(const char* symbol) { return recording.count(symbol, "complete"); }

  static inline std::string why_not;
  static inline std::unique_ptr<TemporaryFolder> folder;
  static inline std::string program;
  static inline Recording recording;
};

TEST_F(CallsRecording, TheProgramRunsAsItWouldAlone) {
  const Output alone = run({program});
  EXPECT_EQ(recording.made.status, 3) << recording.made.err;
  EXPECT_EQ(alone.status, 3);
  EXPECT_EQ(recording.made.out, alone.out);
}

TEST_F(CallsRecording, PerfDecodesTheSteppedBranchesOneByOne) {
  expect_branches_equal(recording);
}

TEST_F(CallsRecording, PerfsSwitchesAreTheTruths) {
  expect_off_cpu_equal(recording);
}

TEST_F(CallsRecording, TruthHoldsTheCallsThatTheSourceMakes) {
  EXPECT_EQ(complete("tail"), 12U);
  EXPECT_EQ(complete("leaf"), 12U + 8U);
  EXPECT_EQ(complete("recurse"), 9U);
  EXPECT_EQ(complete("compare"), std::stoul(recording.made.out));
  EXPECT_EQ(complete("catcher"), 5U);
  EXPECT_EQ(complete("thrower"), 3U);
  EXPECT_EQ(recording.count("thrower", "unwound"), 2U);
  EXPECT_EQ(recording.count("jumper", "unwound"), 4U);
  EXPECT_EQ(complete("lander"), 1U);
  EXPECT_EQ(complete("handler"), 1U);
  EXPECT_EQ(recording.count("main", "incomplete"), 1U); // its call was not seen
}

TEST_F(CallsRecording, TruthMarksTailCallsAndHandlers) {
  std::size_t tails = 0;
  for (const TruthCall& call : recording.truth()) {
    if (call.symbol == "leaf" && call.tail_call) {
      ++tails;
    }
    EXPECT_EQ(call.signal_handler, call.symbol == "handler") << call.symbol;
  }
  EXPECT_EQ(tails, 12U);
}

TEST_F(CallsRecording, RecursionNestsInDepthAndTime) {
  std::vector<TruthCall> calls;
  for (const TruthCall& call : recording.truth()) {
    if (call.symbol == "recurse") {
      calls.push_back(call);
    }
  }
  ASSERT_EQ(calls.size(), 9U); // innermost first, as calls are written when they end
  for (std::size_t index = 1; index < calls.size(); ++index) {
    EXPECT_EQ(calls[index].depth + 1, calls[index - 1].depth);
    EXPECT_LT(calls[index].start, calls[index - 1].start);
    EXPECT_GT(calls[index].end, calls[index - 1].end);
  }
}

TEST_F(CallsRecording, TheSleepIsOffCpu) {
  for (const TruthCall& call : recording.truth()) {
    if (call.symbol == "sleeper") {
      EXPECT_GE(call.off_cpu, 3'000'000U);
      EXPECT_GT(call.end - call.start, call.off_cpu);
    } else if (call.symbol == "leaf") {
      EXPECT_EQ(call.off_cpu, 0U);
    }
  }
}

TEST_F(CallsRecording, CallsAndReturnsOfPerfEqualTheTruth) {
  const auto events = recording.decoded("cr");
  const auto calls = recording.truth();
  const auto named = functions_by_nm(program);
  std::uint64_t base = 0; // position-independent: where the program was loaded
  for (const TruthCall& call : calls) {
    if (call.symbol == "leaf") {
      base = call.function - named.at("leaf").address;
    }
  }
  for (const char* name : {"leaf", "tail", "recurse", "compare", "thrower", "catcher", "jumper",
                           "lander", "sleeper", "handler"}) {
    const std::uint64_t entry = base + named.at(name).address;
    const std::uint64_t end = entry + named.at(name).size;
    const auto called = std::ranges::count_if(events, [&](const BranchEvent& event) {
      return event.kind == "call" && event.to == entry;
    });
    const auto returned = std::ranges::count_if(events, [&](const BranchEvent& event) {
      return event.kind == "return" && event.from >= entry && event.from < end;
    });
    const auto true_calls = std::ranges::count_if(calls, [&](const TruthCall& call) {
      return call.function == entry && !call.tail_call && !call.signal_handler;
    });
    const auto true_returns = std::ranges::count_if(calls, [&](const TruthCall& call) {
      return call.function == entry && call.state == "complete";
    });
    EXPECT_EQ(called, true_calls) << name;
    EXPECT_EQ(returned, std::string(name) == "tail" ? 0 : true_returns)
        << name; // leaf returns for it
  }
}

// perf gives a branch the time of the last packet before it. An MTC packet comes each 8 ticks of a
// 24 MHz crystal, 333 ns, so no branch of running code is dated earlier than that.
TEST_F(CallsRecording, PerfsTimesAgreeWithTheTruth) {
  std::map<std::uint64_t, std::vector<std::uint64_t>> entered; // function → perf's times
  for (const BranchEvent& event : recording.decoded("cr")) {
    if (event.kind == "call") {
      entered[event.to].push_back(event.ns);
    }
  }
  std::vector<TruthCall> calls = recording.truth();
  std::ranges::sort(calls, {}, &TruthCall::start);
  std::map<std::uint64_t, std::size_t> next;
  std::size_t compared = 0;
  for (const TruthCall& call : calls) {
    const bool ours =
        call.symbol == "recurse" || call.symbol == "compare" || call.symbol == "catcher";
    if (!ours) {
      continue;
    }
    const auto& times = entered[call.function];
    const std::size_t index = next[call.function]++;
    ASSERT_LT(index, times.size());
    const double late = static_cast<double>(times[index]) - static_cast<double>(call.start);
    EXPECT_LE(late, 20) << call.symbol;
    EXPECT_GE(late, -350) << call.symbol;
    ++compared;
  }
  EXPECT_GT(compared, 50U);
}

TEST_F(CallsRecording, HoldsEveryTimingPacketAndTheSwitches) {
  const std::string dump = recording.dump();
  for (const char* packet : {" TSC ", " TMA ", " MTC 0x", " CYC 0x", " CBR ", " PSBEND",
                             " MODE.Exec", "PERF_RECORD_SWITCH OUT", "PERF_RECORD_SWITCH IN"}) {
    EXPECT_NE(dump.find(packet), std::string::npos) << packet;
  }
}

} // namespace
} // namespace ptlens::ptsim::testing
