// What the time of calls went to, of calls written by hand and of random ones.
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "measure/selection/call_numbers.hpp"
#include "measure/selection/call_page.hpp"
#include "measure/timeline/longest_parts.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace ptlens::measure {
namespace {

using stacks::FunctionId;

CallSubset all_calls_of(const Measurement& measurement, FunctionId function, CallOrder order) {
  return read_page(measurement, {&function, 1}, {},
                   {.order = order, .descending = true, .offset = 0, .limit = 100'000})
      .calls;
}

// serve() takes 1,000 ns: 300 in two calls of lookup(), 250 in a call of write() that waits for
// 200 of them, 150 for a lock in its own code, and 100 preempted.
TEST(LongestParts, AreCallsOwnWaitsAndOwnInstructions) {
  test::Recording m = test::empty_recording(10'000);
  for (const char* name : {"serve()", "lookup()", "write()", "deeper()"}) {
    test::add_function(m, name);
  }
  const auto serve = test::add_call(
      m, {.function = 0_fn, .start = 1'000, .latency = 1'000, .blocked = 350, .preempted = 100});
  const auto lookup =
      test::add_call(m, {.function = 1_fn, .parent = serve, .start = 1'000, .latency = 200});
  test::add_call(m, {.function = 3_fn, .parent = lookup, .start = 1'010, .latency = 150});
  test::add_call(m, {.function = 1_fn, .parent = serve, .start = 1'300, .latency = 100});
  test::add_call(
      m, {.function = 2_fn, .parent = serve, .start = 1'400, .latency = 250, .blocked = 200});
  waits::Waits waits;
  waits.all = {
      {.tid = 1, .begin = 1'420, .end = 1'620, .reason = waits::Reason::disk},
      {.tid = 1, .begin = 1'700, .end = 1'710, .reason = waits::Reason::sleep},
      {.tid = 1, .begin = 1'720, .end = 1'860, .reason = waits::Reason::lock},
      {.tid = 1, .begin = 1'880, .end = 1'980, .reason = waits::Reason::preempted},
  };
  const Measurement measurement(m);
  const CallSubset calls = all_calls_of(measurement, 0_fn, CallOrder::start);
  using Kind = CallPart::Kind;
  const std::vector<CallPart> expected = {
      {.kind = Kind::call, .function = 1_fn, .calls = 2, .time = 300},
      {.kind = Kind::call,
       .function = 2_fn,
       .calls = 1,
       .time = 250,
       .off_cpu = 200,
       .cause = WaitCause{.reason = waits::Reason::disk}},
      {.kind = Kind::self, .time = 200},
      {.kind = Kind::blocked,
       .time = 150,
       .off_cpu = 150,
       .cause = WaitCause{.reason = waits::Reason::lock}},
      {.kind = Kind::preempted, .time = 100, .off_cpu = 100},
  };
  EXPECT_EQ(longest_parts(measurement, calls, &waits, 9),
            std::vector<std::vector<CallPart>>{expected});
  EXPECT_EQ(longest_parts(measurement, calls, &waits, 2).at(0).size(), 2U);
  EXPECT_EQ(longest_parts(measurement, calls, nullptr, 9).at(0).at(3).cause, std::nullopt);
}

class RandomParts : public testing::TestWithParam<std::uint32_t> {};

TEST_P(RandomParts, AddUpToTheCall) {
  const test::Recording m = test::random_recording({.seed = GetParam()});
  const Measurement measurement(m);
  for (const FunctionId function : m.functions.ids()) {
    const CallSubset calls = all_calls_of(measurement, function, CallOrder::latency);
    const auto parts = longest_parts(measurement, calls, nullptr, SIZE_MAX);
    ASSERT_EQ(parts.size(), calls.calls().size());
    for (std::uint32_t row = 0; row < parts.size(); ++row) {
      std::uint64_t time = 0;
      std::uint64_t off_cpu = 0;
      for (const CallPart& part : parts[row]) {
        time += part.time;
        off_cpu += part.off_cpu;
      }
      EXPECT_EQ(time, calls.calls().latency[row]);
      EXPECT_EQ(off_cpu, calls.calls().off_cpu(row));
      EXPECT_TRUE(std::ranges::is_sorted(parts[row], std::greater(), &CallPart::time));
    }
  }
}

TEST_P(RandomParts, NumbersCountTheCallsThatBeganBefore) {
  const test::Recording m = test::random_recording({.seed = GetParam()});
  const Measurement measurement(m);
  for (const FunctionId function : m.functions.ids()) {
    const CallSubset calls = all_calls_of(measurement, function, CallOrder::latency);
    const std::vector<std::uint64_t> numbers = call_numbers(measurement, {&function, 1}, calls);
    std::vector<std::uint64_t> sorted = numbers;
    std::ranges::sort(sorted);
    for (std::uint32_t row = 0; row < numbers.size(); ++row) {
      std::uint64_t before = 0;
      std::uint64_t together = 0;
      for (const std::uint32_t call : naive::calls_of(m, function)) {
        before += m.calls.start[call] < calls.calls().start[row] ? 1 : 0;
        together += m.calls.start[call] == calls.calls().start[row] ? 1 : 0;
      }
      EXPECT_GT(numbers[row], before);
      EXPECT_LE(numbers[row], before + together);
      EXPECT_EQ(sorted[row], row + 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomParts, testing::Range(0U, 20U));

} // namespace
} // namespace ptlens::measure
