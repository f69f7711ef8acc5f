// What recording a wait costs on this machine.
#include "record/machine/wait_events.hpp"
#include "record/probes/cost/wait_cost.hpp"
#include "record_test_support.hpp"

#include <fmt/format.h>

#include <sched.h>

namespace ptlens::record::test {
namespace {

// A record contains a kilobyte of the user's stack and the unwound stack of the kernel: more than a
// system call takes, and far less than the time that a thread may keep its CPU.
TEST(WaitCost, IsThatOfCopyingAStack) {
  const Machine machine = read_machine("");
  if (const auto waits = find_wait_events(machine); !waits) {
    GTEST_SKIP() << waits.error().message;
  }
  cpu_set_t before;
  cpu_set_t after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  const auto cost = measure_wait_cost(machine);
  ASSERT_TRUE(cost) << cost.error().message;
  EXPECT_GT(*cost, 200);
  EXPECT_LT(*cost, 1'000'000);
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after)) << "the thread may run on all CPUs again";
}

} // namespace
} // namespace ptlens::record::test
