// Random tables of calls to cache: valid in their order and their parents, wild in every number.
#pragma once

#include "cache/format/description.hpp"
#include "stacks/calls/call.hpp"
#include "stacks/calls/call_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace ptlens::cache::test {

inline constexpr std::uint32_t functions = 7;
inline constexpr std::uint32_t sites = 5;
inline constexpr std::uint32_t threads = 3;

inline Description description() {
  Description made;
  for (std::uint32_t i = 0; i < functions; ++i) {
    made.functions.push_back({.name = "function " + std::to_string(i),
                              .binary = i % 2 == 0 ? "/bin/app" : "/lib/one.so",
                              .address = 0x1000 + i,
                              .file = i % 3 == 0 ? "" : "/src/file.cpp",
                              .line = i,
                              .end_line = i + 9,
                              .linkage_names = std::vector<std::string>(i % 3, "alias")});
  }
  for (std::uint32_t i = 0; i < sites; ++i) {
    made.sites.push_back({.function = i == 0 ? stacks::FunctionId::none : stacks::FunctionId{i},
                          .address = 0xffffffffff600000 + i,
                          .file = "/src/file.cpp",
                          .line = i});
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(threads); ++i) {
    made.threads.push_back({.pid = 7,
                            .tid = 7 + i,
                            .comm = "thread",
                            .first_ns = 1,
                            .last_ns = UINT64_MAX,
                            .lost_ns = 3,
                            .gaps = 4,
                            .instructions = 5,
                            .lost = std::vector<stacks::Gap>(i, {10, 11})});
  }
  made.more = std::string("more\0of it", 10);
  return made;
}

class Random {
public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(engine_);
  }
  // Of any size: as many bits as not.
  std::uint64_t any() {
    return std::uniform_int_distribution<std::uint64_t>()(engine_) >> below(64);
  }
  bool chance(std::uint64_t percent) { return below(100) < percent; }

private:
  std::mt19937 engine_;
};

inline stacks::CallTable random_table(std::uint32_t seed, std::uint32_t calls_a_thread) {
  Random random(seed);
  stacks::CallTable table;
  const std::uint64_t widest = std::uint64_t{1} << (4 + random.below(40));
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    std::uint64_t now = random.any() >> 1U;
    const auto first = static_cast<std::uint32_t>(table.size());
    for (std::uint32_t i = 0; i < calls_a_thread; ++i) {
      const auto call = static_cast<std::uint32_t>(table.size());
      const bool root = call == first || random.chance(10);
      now += random.chance(30) ? 0 : random.below(widest);
      const bool off = random.chance(5);
      table.thread.push_back(thread);
      table.function.push_back(
          stacks::FunctionId{static_cast<std::uint32_t>(random.below(functions))});
      table.parent.push_back(root ? stacks::CallIndex::none
                                  : stacks::CallIndex{call - 1 -
                                                      static_cast<std::uint32_t>(random.below(
                                                          std::min(call - first, 9U)))});
      table.site.push_back(random.chance(20)
                               ? stacks::SiteId::none
                               : stacks::SiteId{static_cast<std::uint32_t>(random.below(sites))});
      table.start.push_back(now);
      table.latency.push_back(random.chance(95) ? random.below(widest) : random.any());
      table.uncertainty.push_back(random.chance(99) ? static_cast<std::uint32_t>(random.below(100))
                                                    : UINT32_MAX);
      table.children.push_back(random.chance(50) ? 0 : random.below(widest));
      table.outside.push_back(off ? random.any() : 0);
      table.blocked.push_back(off && random.chance(50) ? random.any() : 0);
      table.preempted.push_back(off ? random.below(10) : 0);
      table.switches.push_back(off ? static_cast<std::uint32_t>(random.below(4)) : 0);
      table.state.push_back(static_cast<stacks::CallState>(random.below(3)));
      table.tail_call.push_back(random.chance(10) ? 1 : 0);
      table.inner.push_back(random.chance(10) ? 1 : 0);
      table.removed.push_back(random.chance(50) ? 0 : random.below(widest));
      table.end_unknown.push_back(random.chance(10) ? 1 : 0);
    }
  }
  return table;
}

inline void expect_equal(const stacks::CallTable& one, const stacks::CallTable& other) {
  EXPECT_EQ(one.thread, other.thread);
  EXPECT_EQ(one.function, other.function);
  EXPECT_EQ(one.parent, other.parent);
  EXPECT_EQ(one.site, other.site);
  EXPECT_EQ(one.start, other.start);
  EXPECT_EQ(one.latency, other.latency);
  EXPECT_EQ(one.uncertainty, other.uncertainty);
  EXPECT_EQ(one.children, other.children);
  EXPECT_EQ(one.outside, other.outside);
  EXPECT_EQ(one.blocked, other.blocked);
  EXPECT_EQ(one.preempted, other.preempted);
  EXPECT_EQ(one.switches, other.switches);
  EXPECT_EQ(one.state, other.state);
  EXPECT_EQ(one.tail_call, other.tail_call);
  EXPECT_EQ(one.inner, other.inner);
  EXPECT_EQ(one.removed, other.removed);
  EXPECT_EQ(one.end_unknown, other.end_unknown);
}

// The calls as they are handed over: each when it closes, here in order of their opening, which a
// cache must not rely upon: `backwards` hands over each thread's last call first.
template <class Take>
void hand_over(const stacks::CallTable& table, bool backwards, const Take& take) {
  std::vector<std::uint32_t> first(threads, UINT32_MAX);
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    std::uint32_t& of_thread = first[table.thread[call]];
    of_thread = std::min(of_thread, call);
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::size_t call = backwards ? table.size() - 1 - i : i;
    take(table.thread[call], stacks::closed_call(table, call, first[table.thread[call]]));
  }
}

} // namespace ptlens::cache::test
