// What goes into a cache comes out: every column of every call, whatever the sizes of blocks and
// the order of closing.
#include "cache/random_table.hpp"
#include "cache/reading/call_rows.hpp"
#include "cache/writing/writer.hpp"
#include "stacks/calls/closed_call.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

namespace ptlens::cache {
namespace {

using stacks::CallId;
using stacks::CallIndex;
using stacks::CallTable;
using stacks::FunctionId;

struct Folder {
  Folder() { std::filesystem::create_directory(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path = testing::TempDir() + "ptlens_store_" + std::to_string(::getpid());
};

std::shared_ptr<CallCache> written(const CallTable& table, Writer::Options options,
                                   bool backwards) {
  Writer writer(std::move(options));
  test::hand_over(table, backwards, [&](std::uint32_t thread, const stacks::ClosedCall& call) {
    writer.thread(thread).take(call);
  });
  auto cache = writer.finish("key", test::description());
  EXPECT_TRUE(cache.has_value());
  EXPECT_EQ(writer.trouble(), "");
  return cache ? *cache : nullptr;
}

TEST(RoundTrip, RestoresEveryColumn) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const CallTable table = test::random_table(seed, seed * 7 + 1);
    Writer::Options options;
    options.block_calls = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 16 : 4096;
    options.encoders = seed % 5; // 0: none
    const auto cache = written(table, options, seed % 2 == 1);
    ASSERT_NE(cache, nullptr);
    EXPECT_TRUE(cache->in_memory());
    EXPECT_EQ(cache->calls(), table.size());
    test::expect_equal(read_all_calls(*cache).calls, table);
    EXPECT_FALSE(cache->damaged());
  }
}

// Most times are short, and take less room than the longest ones.
TEST(RoundTrip, RestoresTimesOfEveryLength) {
  std::vector<std::uint64_t> times = {0, UINT64_MAX};
  for (unsigned bits = 0; bits < 64; ++bits) {
    times.push_back(std::uint64_t{1} << bits);
    times.push_back((std::uint64_t{1} << bits) - 1);
  }
  for (const std::uint32_t block_calls : {1U, 512U}) { // of each edge
    Writer::Options options;
    options.block_calls = block_calls;
    Writer writer(std::move(options));
    std::vector<stacks::ClosedCall> calls;
    const auto take = [&](std::uint64_t start, std::uint64_t latency, std::uint64_t children,
                          std::uint32_t uncertainty) {
      stacks::ClosedCall call;
      call.function = 0_fn;
      call.order = CallId{static_cast<std::uint32_t>(calls.size())};
      call.start = start;
      call.latency = latency;
      call.children = children;
      call.uncertainty = uncertainty;
      call.state = stacks::CallState::complete;
      writer.thread(0).take(call);
      calls.push_back(call);
    };
    for (const std::uint64_t time : times) {
      take(time, 7, 3, 1);
      take(9, time, 3, 1);
      take(9, 7, time, 1);
      take(9, 7, 3, static_cast<std::uint32_t>(time));
    }
    const auto cache = writer.finish({}, test::description());
    ASSERT_TRUE(cache.has_value());
    const CallRows found = read_all_calls(**cache);
    ASSERT_EQ(found.calls.size(), calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const stacks::ClosedCall& call = calls[index_of(found.order[i])];
      EXPECT_EQ(found.calls.start[i], call.start);
      EXPECT_EQ(found.calls.latency[i], call.latency);
      EXPECT_EQ(found.calls.children[i], call.children);
      EXPECT_EQ(found.calls.uncertainty[i], call.uncertainty);
    }
  }
}

TEST(RoundTrip, RestoresTheDescription) {
  const auto cache = written(test::random_table(1, 10), {}, false);
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->key(), "key");
  const Description expected = test::description();
  const Description found = cache->take_description();
  EXPECT_EQ(found.more, expected.more);
  ASSERT_EQ(found.functions.size(), expected.functions.size());
  for (const stacks::FunctionId i : expected.functions.ids()) {
    EXPECT_EQ(found.functions[i].name, expected.functions[i].name);
    EXPECT_EQ(found.functions[i].binary, expected.functions[i].binary);
    EXPECT_EQ(found.functions[i].address, expected.functions[i].address);
    EXPECT_EQ(found.functions[i].file, expected.functions[i].file);
    EXPECT_EQ(found.functions[i].linkage_names, expected.functions[i].linkage_names);
    EXPECT_EQ(found.functions[i].line, expected.functions[i].line);
    EXPECT_EQ(found.functions[i].end_line, expected.functions[i].end_line);
  }
  ASSERT_EQ(found.sites.size(), expected.sites.size());
  for (const stacks::SiteId i : expected.sites.ids()) {
    EXPECT_EQ(found.sites[i].function, expected.sites[i].function);
    EXPECT_EQ(found.sites[i].address, expected.sites[i].address);
    EXPECT_EQ(found.sites[i].file, expected.sites[i].file);
    EXPECT_EQ(found.sites[i].line, expected.sites[i].line);
  }
  ASSERT_EQ(found.threads.size(), expected.threads.size());
  for (std::size_t i = 0; i < expected.threads.size(); ++i) {
    EXPECT_EQ(found.threads[i].pid, expected.threads[i].pid);
    EXPECT_EQ(found.threads[i].tid, expected.threads[i].tid);
    EXPECT_EQ(found.threads[i].comm, expected.threads[i].comm);
    EXPECT_EQ(found.threads[i].first_ns, expected.threads[i].first_ns);
    EXPECT_EQ(found.threads[i].last_ns, expected.threads[i].last_ns);
    EXPECT_EQ(found.threads[i].lost_ns, expected.threads[i].lost_ns);
    EXPECT_EQ(found.threads[i].gaps, expected.threads[i].gaps);
    EXPECT_EQ(found.threads[i].instructions, expected.threads[i].instructions);
    EXPECT_EQ(found.threads[i].lost, expected.threads[i].lost);
  }
}

TEST(RoundTrip, ReadsTheRequestedEdges) {
  const CallTable table = test::random_table(3, 400);
  const auto cache = written(table, {}, false);
  ASSERT_NE(cache, nullptr);
  for (const auto function : first_ids<FunctionId>(test::functions)) {
    const auto range = cache->edges_to(function);
    const std::vector<EdgeId> edges(range.begin(), range.end());
    const CallRows gathered = read_calls(*cache, edges);
    std::size_t at = 0;
    for (std::size_t call = 0; call < table.size(); ++call) {
      if (table.function[call] != function) {
        continue;
      }
      ASSERT_LT(at, gathered.calls.size());
      EXPECT_EQ(gathered.calls.function[at], function);
      EXPECT_EQ(gathered.calls.start[at], table.start[call]);
      EXPECT_EQ(gathered.calls.latency[at], table.latency[call]);
      const CallIndex parent = table.parent[call];
      EXPECT_EQ(gathered.caller[at],
                parent == CallIndex::none ? FunctionId::none : table.function[index_of(parent)]);
      const bool parent_there =
          parent != CallIndex::none && table.function[index_of(parent)] == function;
      EXPECT_EQ(gathered.calls.parent[at] != CallIndex::none, parent_there);
      ++at;
    }
    EXPECT_EQ(at, gathered.calls.size());
    std::vector<EdgeId> called;
    for (const EdgeId edge : cache->edges()) {
      if (cache->edge(edge).caller == function) {
        called.push_back(edge);
      }
    }
    EXPECT_TRUE(std::ranges::equal(cache->edges_from(function), called));
  }
}

TEST(RoundTrip, CountsTheCallsOfEachThread) {
  const CallTable table = test::random_table(12, 700);
  const auto cache = written(table, {}, true);
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->calls(), table.size());
  EXPECT_EQ(cache->first_start(), std::ranges::min(table.start));
  ASSERT_EQ(cache->calls_by_thread().size(), test::threads);
  for (std::uint32_t thread = 0; thread < test::threads; ++thread) {
    EXPECT_EQ(cache->calls_by_thread()[thread], std::ranges::count(table.thread, thread));
  }
}

TEST(RoundTrip, SumsFunctionsByTheirDefinition) {
  const CallTable table = test::random_table(5, 300);
  const auto cache = written(table, {}, true);
  ASSERT_NE(cache, nullptr);
  for (const auto function : first_ids<FunctionId>(test::functions)) {
    std::array<std::uint64_t, 3> calls = {};
    __extension__ unsigned __int128 inclusive = 0;
    __extension__ unsigned __int128 self = 0;
    __extension__ unsigned __int128 off = 0;
    for (std::size_t call = 0; call < table.size(); ++call) {
      if (table.function[call] == function) {
        ++calls.at(static_cast<std::size_t>(table.state[call]));
        self += table.self(call);
        if (table.inner[call] == 0) {
          inclusive += table.latency[call];
          off += table.blocked[call];
          off += table.preempted[call];
        }
      }
    }
    const FunctionSums& sums = cache->sums(function);
    EXPECT_EQ(sums.calls, calls);
    EXPECT_EQ(sums.inclusive.low, static_cast<std::uint64_t>(inclusive));
    EXPECT_EQ(sums.inclusive.high, static_cast<std::uint64_t>(inclusive >> 64U));
    EXPECT_EQ(sums.self.low, static_cast<std::uint64_t>(self));
    EXPECT_EQ(sums.off_cpu.low, static_cast<std::uint64_t>(off));
  }
}

TEST(RoundTrip, StaysWithinItsMemory) {
  const Folder folder;
  const CallTable table = test::random_table(11, 20'000);
  Writer::Options options;
  options.path = folder.path + "/calls";
  options.memory_bytes = 1; // as little as it does with
  const auto cache = written(table, options, false);
  ASSERT_NE(cache, nullptr);
  EXPECT_FALSE(cache->in_memory());
  // 60,000 calls of at least 24 bytes do not fit into 3 x 256 KiB: blocks were written early.
  std::size_t blocks = 0;
  for (const EdgeId edge : cache->edges()) {
    blocks += cache->blocks(edge).size();
  }
  EXPECT_GT(blocks, cache->edge_count());
  test::expect_equal(read_all_calls(*cache).calls, table);
}

// main is opened when control returns to it, after a, which is in it, and after b, which is in a.
// So its number is 2, but it is first in order. The inner main is distinguished from the outer one.
TEST(RoundTrip, PutsCallersFoundLateBeforeTheCallsInThem) {
  Writer writer(Writer::Options{});
  stacks::CallSink& sink = writer.thread(0);
  const auto take = [&](FunctionId function, FunctionId caller, CallId order, CallId parent,
                        std::uint64_t start, std::uint64_t latency, bool late) {
    stacks::ClosedCall call;
    call.function = function;
    call.caller = caller;
    call.order = order;
    call.parent = parent;
    call.start = start;
    call.latency = latency;
    call.state = stacks::CallState::complete;
    call.late = late;
    sink.take(call);
  };
  take(1_fn, 2_fn, 1_call, 0_call, 10, 5, false);  // function 1 in function 2
  take(2_fn, 0_fn, 0_call, 2_call, 10, 20, false); // 2 in 0, at the start of the trace
  take(0_fn, 1_fn, 3_call, 4_call, 50, 10, false); // function 0, in the next: not known to be inner
  take(1_fn, 0_fn, 4_call, 2_call, 40, 30, false); // function 1 in function 0
  // Function 0, from the start of the trace.
  take(0_fn, FunctionId::none, 2_call, CallId::none, 10, 90, true);
  const auto cache = writer.finish({}, test::description());
  ASSERT_TRUE(cache.has_value());
  const CallRows all = read_all_calls(**cache);
  EXPECT_EQ(all.calls.function, (std::vector{0_fn, 2_fn, 1_fn, 1_fn, 0_fn}));
  EXPECT_EQ(all.calls.parent, (std::vector{CallIndex::none, 0_row, 1_row, 0_row, 3_row}));
  EXPECT_EQ(all.calls.inner, (std::vector<std::uint8_t>{0, 0, 0, 0, 1}));
  EXPECT_EQ((*cache)->sums(0_fn).inclusive.low, 90U); // the outer one alone
}

TEST(RoundTrip, NeedsFewBytesPerCall) {
  const CallTable table = [] {
    CallTable plain = test::random_table(2, 100'000);
    for (std::size_t call = 0; call < plain.size(); ++call) { // as most programs are
      plain.start[call] = 1'000'000'000 + 130 * call;
      plain.latency[call] = 20 + call % 5000;
      plain.children[call] = call % 3 == 0 ? call % 4000 : 0;
      plain.removed[call] = 0;
    }
    return plain;
  }();
  const auto cache = written(table, {}, false);
  ASSERT_NE(cache, nullptr);
  EXPECT_LE(cache->bytes(), 24 * cache->calls());
}

} // namespace
} // namespace ptlens::cache
