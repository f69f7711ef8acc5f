// Calls in windows of time, and the calls that one call is compared with, of random recordings:
// against filters of the whole table of calls.
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/timeline/typical_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace ptlens::measure {
namespace {

using naive::Calls;
using stacks::CallIndex;
using stacks::FunctionId;

// The thread, the start and the parent's row: rows of random recordings are sorted by the first
// two.
using CallRow = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, FunctionId, std::uint32_t>;

class RandomTypicalCalls : public testing::TestWithParam<std::uint32_t> {
protected:
  std::uint64_t upto(std::uint64_t most) { return random_() % (most + 1); }
  FunctionId any_function() {
    return FunctionId{static_cast<std::uint32_t>(upto(m_.functions.size() - 1))};
  }

  std::mt19937 random_{GetParam()};
  test::Recording m_ = test::random_recording({.seed = GetParam()});
  Measurement measurement_ = m_;
  CallSubset all_ = [this] {
    CallsNeeded needed(measurement_);
    needed.add_all_calls();
    return needed.read();
  }();
};

// Returns the calls that overlap one of the windows, each with its parent's row among them.
std::vector<CallRow> rows_in(const stacks::CallTable& calls,
                             const std::vector<cache::Window>& windows) {
  constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> rows(calls.size(), none);
  std::vector<CallRow> found;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    const std::uint64_t begin = calls.start[call];
    const std::uint64_t end = begin + calls.wall(call);
    if (std::ranges::none_of(windows, [&](const cache::Window& window) {
          return window.thread == calls.thread[call] && begin <= window.end && end >= window.begin;
        })) {
      continue;
    }
    rows[call] = static_cast<std::uint32_t>(found.size());
    const CallIndex parent = calls.parent[call];
    found.emplace_back(calls.thread[call], begin, calls.latency[call], calls.function[call],
                       parent == CallIndex::none ? none : rows[index_of(parent)]);
  }
  return found;
}

TEST_P(RandomTypicalCalls, WindowsGiveTheCallsThatOverlapThem) {
  for (int round = 0; round < 20; ++round) {
    std::vector<cache::Window> windows(upto(4));
    for (cache::Window& window : windows) {
      window.thread = static_cast<std::uint32_t>(upto(m_.threads.size() - 1));
      window.begin = upto(m_.recording.trace_ns);
      window.end = window.begin + upto(m_.recording.trace_ns / 20);
    }
    CallsNeeded needed(measurement_);
    needed.add_all_calls();
    const CallSubset some = needed.read(windows);
    const stacks::CallTable& calls = some.calls();
    std::vector<CallRow> found;
    for (std::uint32_t call = 0; call < calls.size(); ++call) {
      found.emplace_back(calls.thread[call], calls.start[call], calls.latency[call],
                         calls.function[call], index_of(calls.parent[call]));
    }
    EXPECT_EQ(found, rows_in(all_.calls(), windows));
  }
}

// Returns the rows of the calls that the row may be compared with, the best first.
Calls naive_candidates(const test::Recording& m, const stacks::CallTable& calls,
                       std::uint32_t row) {
  Calls complete;
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    if (call != row && calls.function[call] == calls.function[row] &&
        calls.state[call] == stacks::CallState::complete) {
      complete.push_back(call);
    }
  }
  test::Recording others = m;
  others.calls = calls;
  const std::uint64_t low = naive::percentile(others, complete, 400);
  const std::uint64_t high = naive::percentile(others, complete, 600);
  const auto median = static_cast<std::int64_t>(naive::percentile(others, complete, 500));
  Calls typical;
  for (const std::uint32_t call : complete) {
    if (low <= calls.latency[call] && calls.latency[call] <= high) {
      typical.push_back(call);
    }
  }
  const auto rank = [&](std::uint32_t call) {
    const auto latency = static_cast<std::int64_t>(calls.latency[call]);
    return std::tuple(calls.site[call] != calls.site[row], calls.thread[call] != calls.thread[row],
                      std::abs(latency - median), latency, call);
  };
  std::ranges::sort(typical, {}, rank);
  const auto other_caller =
      std::ranges::find_if(typical, [&](std::uint32_t call) { return std::get<0>(rank(call)); });
  if (other_caller != typical.begin()) {
    typical.erase(other_caller, typical.end());
  }
  return typical;
}

TEST_P(RandomTypicalCalls, TypicalCallsAreThoseOfTheMiddle) {
  const stacks::CallTable& calls = all_.calls();
  for (int round = 0; round < 20; ++round) {
    const auto row = static_cast<std::uint32_t>(upto(calls.size() - 1));
    const FunctionId function = calls.function[row];
    const CallName name{.tid = m_.threads[calls.thread[row]].tid, .start = calls.start[row]};
    const auto call = find_call(measurement_, function, name);
    ASSERT_TRUE(call.has_value());
    EXPECT_EQ(call->start, name.start);
    const auto most = static_cast<std::size_t>(1 + upto(40));
    // The first of several that began together is meant.
    std::uint32_t first = row;
    while (first > 0 && calls.thread[first - 1] == calls.thread[row] &&
           calls.start[first - 1] == calls.start[row]) {
      --first;
    }
    while (calls.function[first] != function) {
      ++first;
    }
    Calls expected = naive_candidates(m_, calls, first);
    expected.resize(std::min(expected.size(), most));
    std::vector<CallRow> expected_calls;
    for (const std::uint32_t each : expected) {
      expected_calls.emplace_back(calls.thread[each], calls.start[each], calls.wall(each), function,
                                  index_of(all_.order(each)));
    }
    std::vector<CallRow> found;
    for (const StoredCall& each : typical_calls(measurement_, function, *call, most)) {
      found.emplace_back(each.ref.block->thread, each.start, each.end - each.start, function,
                         each.order);
    }
    EXPECT_EQ(found, expected_calls);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTypicalCalls, testing::Range(0U, 40U));

} // namespace
} // namespace ptlens::measure
