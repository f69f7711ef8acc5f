// What is kept of edges against the calls themselves, counted and sorted.
#include "cache/random_table.hpp"
#include "cache/reading/call_rows.hpp"
#include "cache/writing/edge_tally.hpp"
#include "cache/writing/writer.hpp"
#include "stacks/calls/closed_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ptlens::cache {
namespace {

std::shared_ptr<CallCache> written(const stacks::CallTable& table, std::uint32_t large_edge_calls) {
  Writer writer({.block_calls = 7, .large_edge_calls = large_edge_calls});
  test::hand_over(table, false, [&](std::uint32_t thread, const stacks::ClosedCall& call) {
    writer.thread(thread).take(call);
  });
  auto cache = writer.finish("key", test::description());
  return cache ? *cache : nullptr;
}

// The smallest of the sorted values that so many thousandths of them do not exceed.
std::uint64_t ranked(const std::vector<std::uint64_t>& sorted, std::size_t thousandths) {
  return sorted.empty() ? 0 : sorted[(sorted.size() * thousandths + 999) / 1000 - 1];
}

TEST(LargeEdge, AgreesWithItsCalls) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto cache = written(test::random_table(seed, 40 * seed + 1), 1);
    ASSERT_NE(cache, nullptr);
    for (const EdgeId edge : cache->edges()) {
      const LargeEdge* const large = cache->large_edge(edge);
      ASSERT_NE(large, nullptr);
      const std::array<EdgeId, 1> one = {edge};
      const stacks::CallTable calls = read_calls(*cache, one).calls;
      std::array<std::uint64_t, 3> states{};
      std::vector<std::uint64_t> latencies;
      std::vector<std::uint64_t> uncertainties;
      WideSum sum = 0;
      WideSum squares = 0;
      WideSum self = 0;
      WideSum off = 0;
      WideSum outside = 0;
      WideSum removed = 0;
      WideSum uncertainty = 0;
      std::uint64_t switches = 0;
      for (std::size_t call = 0; call < calls.size(); ++call) {
        ++states.at(static_cast<std::size_t>(calls.state[call]));
        if (calls.state[call] != stacks::CallState::complete) {
          continue;
        }
        const std::uint64_t latency = calls.latency[call];
        latencies.push_back(latency);
        uncertainties.push_back(calls.uncertainty[call]);
        sum += latency;
        squares += static_cast<WideSum>(latency) * latency;
        self += calls.self(call);
        off += calls.off_cpu(call);
        outside += calls.outside[call];
        removed += calls.removed[call];
        uncertainty += calls.uncertainty[call];
        switches += calls.switches[call];
      }
      std::ranges::sort(latencies);
      std::ranges::sort(uncertainties);
      EXPECT_EQ(large->calls, states);
      EXPECT_TRUE(wide(large->latency) == sum);
      EXPECT_TRUE(wide(large->squares) == squares);
      EXPECT_TRUE(wide(large->self) == self);
      EXPECT_TRUE(wide(large->blocked) + wide(large->preempted) == off);
      EXPECT_TRUE(wide(large->outside) == outside);
      EXPECT_EQ(large->switches, switches);
      EXPECT_EQ(large->least, latencies.empty() ? UINT64_MAX : latencies.front());
      EXPECT_EQ(large->most, latencies.empty() ? 0 : latencies.back());
      EXPECT_EQ(large->latency_ranks[0], ranked(latencies, 500));
      EXPECT_EQ(large->latency_ranks[1], ranked(latencies, 900));
      EXPECT_EQ(large->latency_ranks[2], ranked(latencies, 990));
      EXPECT_EQ(large->latency_ranks[3], ranked(latencies, 999));
      EXPECT_TRUE(wide(large->removed) == removed);
      EXPECT_TRUE(wide(large->uncertainty) == uncertainty);
      EXPECT_EQ(large->uncertainty_ranks[0], ranked(uncertainties, 750));
      EXPECT_EQ(large->uncertainty_ranks[1], ranked(uncertainties, 950));
      EXPECT_EQ(large->uncertainty_ranks[2], ranked(uncertainties, 995));
      EXPECT_EQ(large->uncertainty_ranks[4], ranked(uncertainties, 1000));
    }
  }
}

TEST(LargeEdge, SmallEdgesAreRead) {
  const auto cache = written(test::random_table(3, 500), UINT32_MAX);
  const auto kept = written(test::random_table(3, 500), 1);
  ASSERT_TRUE(cache != nullptr && kept != nullptr);
  ASSERT_EQ(cache->edge_count(), kept->edge_count());
  for (const EdgeId edge : cache->edges()) {
    EXPECT_EQ(cache->large_edge(edge), nullptr);
    const std::array<EdgeId, 1> one = {edge};
    const EdgeTally read = edge_tallies(*cache, {}, one).front();
    const EdgeTally stored = edge_tallies(*kept, {}, one).front();
    EXPECT_EQ(read.states, stored.states);
    EXPECT_TRUE(read.tally.on_cpu == stored.tally.on_cpu);
    EXPECT_EQ(read.tally.off_cpu_calls, stored.tally.off_cpu_calls);
    EXPECT_EQ(read.ranks.latencies, stored.ranks.latencies);
  }
}

} // namespace
} // namespace ptlens::cache
