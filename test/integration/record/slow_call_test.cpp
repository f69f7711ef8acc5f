#include "record/probes/cost/probe_cost.hpp"
#include "record/probes/session/slow_call_watch.hpp"
#include "record_test_support.hpp"

#include <thread>

namespace ptlens::record::test {
namespace {

class SlowCalls : public ProbeTest {};

TEST_F(SlowCalls, TheCostOfAHitIsMeasured) {
  const auto cost = measure_probe_cost(read_machine(""));
  ASSERT_TRUE(cost) << cost.error().one_line();
  // Two traps cost more than one, and the latency of a call includes less than its two hits cost.
  EXPECT_GT(cost->emulated.hit_ns, 0);
  EXPECT_GT(cost->stepped.hit_ns, cost->emulated.hit_ns);
  EXPECT_GT(cost->stepped.latency_ns, cost->emulated.latency_ns);
  EXPECT_LT(cost->stepped.latency_ns, 2 * cost->stepped.hit_ns);
  EXPECT_GT(cost->returned.hit_ns, 0);
  EXPECT_GT(cost->emulated.uncertainty_ns, 0);
}

TEST_F(SlowCalls, OneSlowCallOfAThousandIsDetected) {
  const ProgramFolder folder;
  const std::string program = folder.compile("program", R"(
    #include <unistd.h>
    extern "C" __attribute__((noipa)) int work(int x) { if (x == 700) usleep(300000); return x + 1; }
    int main() { int sum = 0; usleep(200000); for (int i = 0; i < 1000; ++i) sum += work(i); return sum == 7; }
  )");
  Request request;
  request.budget = 100;
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

TEST_F(SlowCalls, TheSummaryDescribesTheRecording) {
  const ProgramFolder folder;
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
