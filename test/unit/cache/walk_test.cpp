// A walk hands over what gathering gives, in the same order, without a table.
#include "base/cancellation.hpp"
#include "cache/random_table.hpp"
#include "cache/reading/call_rows.hpp"
#include "cache/reading/walk.hpp"
#include "cache/writing/writer.hpp"
#include "stacks/calls/closed_call.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace ptlens::cache {
namespace {

using stacks::CallId;
using stacks::CallIndex;

std::vector<EdgeId> every_edge(const CallCache& cache) {
  const auto edges = cache.edges();
  return {edges.begin(), edges.end()};
}

std::shared_ptr<CallCache> written(const stacks::CallTable& table, std::size_t block_calls,
                                   bool backwards) {
  Writer::Options options;
  options.block_calls = block_calls;
  Writer writer(std::move(options));
  test::hand_over(table, backwards, [&](std::uint32_t thread, const stacks::ClosedCall& call) {
    writer.thread(thread).take(call);
  });
  return writer.finish("key", test::description()).value_or(nullptr);
}

void expect_walk_of(const CallCache& cache, std::span<const EdgeId> edges) {
  const stacks::CallTable table = read_calls(cache, edges).calls;
  std::size_t at = 0;
  for (std::uint32_t thread = 0; thread < cache.thread_count(); ++thread) {
    std::map<CallId, CallIndex> places;
    ThreadWalk walk(cache, edges, {}, thread);
    EXPECT_TRUE(walk.run([&](const WalkedCall& call) {
      ASSERT_LT(at, table.size());
      EXPECT_LT(index_of(call.order), walk.orders());
      EXPECT_EQ(table.thread[at], thread);
      EXPECT_EQ(table.function[at], cache.edge(call.edge).function);
      EXPECT_EQ(table.start[at], call.start);
      EXPECT_EQ(table.latency[at], call.latency);
      EXPECT_EQ(table.children[at], call.children);
      EXPECT_EQ(table.outside[at], call.outside);
      EXPECT_EQ(table.off_cpu(at), call.off_cpu);
      const auto parent = places.find(call.parent);
      EXPECT_EQ(table.parent[at], parent == places.end() ? CallIndex::none : parent->second);
      places[call.order] = CallIndex{static_cast<std::uint32_t>(at)};
      ++at;
    }));
  }
  EXPECT_EQ(at, table.size());
}

TEST(Walk, VisitsEveryCallInOrder) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const stacks::CallTable table = test::random_table(seed, seed * 9 + 1);
    const auto cache = written(table, seed % 3 == 0 ? 1 : seed % 3 == 1 ? 16 : 4096, seed % 2 == 1);
    ASSERT_NE(cache, nullptr);
    expect_walk_of(*cache, every_edge(*cache));
    std::vector<EdgeId> some = every_edge(*cache);
    std::erase_if(some, [](EdgeId edge) { return index_of(edge) % 3 == 0; });
    expect_walk_of(*cache, some);
  }
}

TEST(Walk, VisitsSeveralStretches) {
  const auto cache = written(test::random_table(3, 100'000), 4096, false);
  ASSERT_NE(cache, nullptr);
  expect_walk_of(*cache, every_edge(*cache));
}

TEST(Walk, PutsCallersFoundLateBeforeTheCallsInThem) {
  Writer writer(Writer::Options{});
  stacks::CallSink& sink = writer.thread(0);
  const auto take = [&](stacks::FunctionId function, CallId order, CallId parent,
                        std::uint64_t start) {
    stacks::ClosedCall call;
    call.function = function;
    call.order = order;
    call.parent = parent;
    call.start = start;
    call.latency = 5;
    call.late = parent == CallId::none;
    sink.take(call);
  };
  take(1_fn, 0_call, 3_call, 10);
  take(2_fn, 1_call, 3_call, 20);
  take(3_fn, 2_call, 4_call, 30);
  take(4_fn, 3_call, 5_call, 10); // holds 0 and 1
  take(5_fn, 4_call, 5_call, 25); // holds 2
  take(6_fn, 5_call, CallId::none, 10);
  const auto cache = writer.finish({}, test::description());
  ASSERT_TRUE(cache.has_value());
  std::vector<CallId> orders;
  ThreadWalk walk(**cache, every_edge(**cache), {}, 0);
  EXPECT_TRUE(walk.run([&](const WalkedCall& call) { orders.push_back(call.order); }));
  EXPECT_EQ(orders, (std::vector{5_call, 3_call, 0_call, 1_call, 4_call, 2_call}));
  expect_walk_of(**cache, every_edge(**cache));
}

TEST(Walk, ReportsAndSortsCallsThatDoNotStartInTheOrderOfOpening) {
  stacks::CallTable table = test::random_table(1, 50);
  std::swap(table.start[10], table.start[40]);
  table.start[10] = table.start[40] + 1;
  const auto cache = written(table, 16, false);
  ASSERT_NE(cache, nullptr);
  EXPECT_FALSE(ThreadWalk(*cache, every_edge(*cache), {}, 0).run([](const WalkedCall&) {}));
  std::vector<CallId> sorted;
  ThreadWalk(*cache, every_edge(*cache), {}, 0).run_sorted([&](const WalkedCall& call) {
    sorted.push_back(call.order);
  });
  const CallRows rows = read_all_calls(*cache);
  ASSERT_EQ(sorted.size(), 50U);
  EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), rows.order.begin()));
}

TEST(Walk, LeavesOutCallsOfSkippedEdgesInBlocksWithoutExtraColumns) {
  const stacks::CallTable table = test::random_table(7, 2'000);
  const auto cache = written(table, 4, false);
  ASSERT_NE(cache, nullptr);
  const std::vector<EdgeId> all = every_edge(*cache);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::multiset<std::pair<std::uint64_t, EdgeId>> expected;
  for (const EdgeId edge : all) {
    for (const BlockEntry& entry : cache->blocks(edge)) {
      const auto block = cache->block(entry);
      ASSERT_TRUE(block);
      if (edge < *half || entry.extras != 0) {
        std::vector<std::uint64_t> starts(entry.calls);
        block->read_starts(entry, starts);
        for (const std::uint64_t start : starts) {
          expected.emplace(start, edge);
        }
      }
    }
  }
  std::multiset<std::pair<std::uint64_t, EdgeId>> found;
  for (std::uint32_t thread = 0; thread < cache->thread_count(); ++thread) {
    ThreadWalk walk(*cache, {all.begin(), half}, {half, all.end()}, thread);
    EXPECT_TRUE(walk.run([&](const WalkedCall& call) { found.emplace(call.start, call.edge); }));
  }
  EXPECT_LT(found.size(), table.size());
  EXPECT_EQ(found, expected);
}

TEST(Walk, StopsReadingWhenItIsCancelled) {
  const auto cache = written(test::random_table(3, 100'000), 4096, false);
  ASSERT_NE(cache, nullptr);
  Progress progress;
  const Cancellable scope(progress);
  ThreadWalk walk(*cache, every_edge(*cache), {}, 0);
  constexpr std::uint64_t asked_at = 1000;
  std::uint64_t taken = 0;
  EXPECT_TRUE(walk.run([&](const WalkedCall&) {
    if (++taken == asked_at) {
      progress.cancel();
    }
  }));
  EXPECT_GE(taken, asked_at);
  EXPECT_LT(taken, 50'000U); // no stretch after the one that was read
  EXPECT_EQ(read_all_calls(*cache).calls.size(), 0U);
  EXPECT_FALSE(cache->damaged());
}

} // namespace
} // namespace ptlens::cache
