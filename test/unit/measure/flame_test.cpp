// Flame graphs: against stacks that are merged the naive way, and pruning.
#include "measure/flame/flame.hpp"
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>

namespace ptlens::measure {
namespace {

using naive::Calls;
using naive::Path;
using stacks::FunctionId;

std::map<Path, naive::Frame> frames_of(const FlameTree& tree) {
  std::map<Path, naive::Frame> frames;
  for (std::uint32_t node = 1; node < tree.size(); ++node) {
    EXPECT_LT(tree.parent[node], node);
    Path path;
    for (std::uint32_t at = node; at != 0; at = tree.parent[at]) {
      path.push_back(tree.function[at]);
    }
    std::ranges::reverse(path);
    const auto [frame, added] =
        frames.emplace(path, naive::Frame{.self = tree.self[node], .calls = tree.calls[node]});
    EXPECT_TRUE(added) << "two nodes of one stack";
  }
  return frames;
}

// Naive frames hold no entry for a stack in which no call was counted.
void expect_same(const FlameTree& tree, const std::map<Path, naive::Frame>& expected) {
  std::map<Path, naive::Frame> frames = frames_of(tree);
  std::erase_if(frames, [](const auto& entry) { return entry.second.calls == 0; });
  ASSERT_EQ(frames.size(), expected.size());
  for (const auto& [path, frame] : expected) {
    ASSERT_TRUE(frames.contains(path));
    EXPECT_EQ(frames[path].self, frame.self);
    EXPECT_EQ(frames[path].calls, frame.calls);
  }
}

void expect_sums(const FlameTree& tree) {
  ASSERT_GE(tree.size(), 1U);
  EXPECT_EQ(tree.parent[0], 0U);
  EXPECT_EQ(tree.function[0], FunctionId::none);
  std::vector<std::uint64_t> below(tree.size(), 0);
  for (std::size_t node = tree.size(); node-- > 1;) {
    EXPECT_EQ(tree.inclusive[node], tree.self[node] + below[node]);
    below[tree.parent[node]] += tree.inclusive[node];
  }
  EXPECT_EQ(tree.inclusive[0], tree.self[0] + below[0]);
}

Calls all_calls(const test::Recording& m) {
  Calls all(m.calls.size());
  for (std::uint32_t call = 0; call < all.size(); ++call) {
    all[call] = call;
  }
  return all;
}

// `chosen` and all calls below them.
Calls with_below(const test::Recording& m, const Calls& chosen) {
  Calls counted;
  for (const std::uint32_t call : all_calls(m)) {
    if (std::ranges::any_of(chosen, [&](std::uint32_t outer) {
          return outer == call || naive::is_inside(m, call, outer);
        })) {
      counted.push_back(call);
    }
  }
  return counted;
}

constexpr std::pair<FlameTime, naive::Time> times[] = {{FlameTime::wall, naive::Time::wall},
                                                       {FlameTime::on_cpu, naive::Time::on},
                                                       {FlameTime::off_cpu, naive::Time::off}};

// 100 ns in function 0, 30 of them outside user code and 40 in function 1, which was
// outside for 25 and switched out for 15 of these.
test::Recording with_time_outside() {
  test::Recording m;
  m.functions.resize(2);
  m.threads.resize(1);
  stacks::CallTable& c = m.calls;
  c.thread = {0, 0};
  c.function = {0_fn, 1_fn};
  c.parent = {stacks::CallIndex::none, 0_row};
  c.site = {stacks::SiteId::none, stacks::SiteId::none};
  c.start = {1000, 1010};
  c.latency = {100, 40};
  c.uncertainty = {0, 0};
  c.children = {40, 0};
  c.outside = {55, 25};
  c.blocked = {15, 15};
  c.preempted = {0, 0};
  c.switches = {1, 1};
  c.state = {stacks::CallState::complete, stacks::CallState::complete};
  c.tail_call = {0, 0};
  c.removed = {0, 0};
  c.end_unknown = {0, 0};
  c.inner = {0, 0};
  return m;
}

// An unwound call whose end was not seen is in the stack of what it called, and has no time.
TEST(Flame, CallsWithoutAnEndAreOnlyInTheStacksOfTheirCalls) {
  test::Recording m = test::empty_recording(10'000);
  for (const char* name : {"outer", "throws", "checks"}) {
    test::add_function(m, name);
  }
  const auto outer = test::add_call(m, {.function = 0_fn, .start = 0, .latency = 1000});
  const auto throws = test::add_call(m, {.function = 1_fn,
                                         .parent = outer,
                                         .start = 100,
                                         .latency = 30,
                                         .state = stacks::CallState::unwound,
                                         .uncertainty = 800,
                                         .end_unknown = true});
  test::add_call(m, {.function = 2_fn, .parent = throws, .start = 110, .latency = 30});
  test::add_call(m, {.function = 1_fn,
                     .parent = outer,
                     .start = 900,
                     .state = stacks::CallState::unwound,
                     .uncertainty = 90,
                     .end_unknown = true});
  const FlameTree tree = flame(m, std::nullopt, {}, FlameTime::wall, 0);
  EXPECT_EQ(tree.function, (std::vector{FunctionId::none, 0_fn, 1_fn, 2_fn}));
  EXPECT_EQ(tree.inclusive, (std::vector<std::uint64_t>{1000, 1000, 30, 30}));
  EXPECT_EQ(tree.self, (std::vector<std::uint64_t>{0, 970, 0, 30}));
  EXPECT_EQ(tree.calls, (std::vector<std::uint64_t>{0, 1, 0, 1}));
}

// The outer call's time contains a root on another stack of its thread, as in a program with
// coroutines.
TEST(Flame, ARootInACallOnAnotherStackIsNotCountedTwice) {
  test::Recording m = test::empty_recording(100'000);
  for (const char* name : {"outer", "resumed", "small"}) {
    test::add_function(m, name);
  }
  const auto outer = test::add_call(m, {.function = 0_fn, .start = 0, .latency = 10'000});
  test::add_call(m, {.function = 2_fn, .parent = outer, .start = 100, .latency = 10});
  const auto resumed = test::add_call(m, {.function = 1_fn, .start = 1'000, .latency = 4'000});
  test::add_call(m, {.function = 2_fn, .parent = resumed, .start = 2'000, .latency = 20});
  m.calls.children[0] += 4'000;
  const FlameTree tree = flame(m, std::nullopt, {}, FlameTime::wall, 0.1);
  EXPECT_EQ(tree.function, (std::vector{FunctionId::none, 0_fn, 1_fn}));
  EXPECT_EQ(tree.inclusive, (std::vector<std::uint64_t>{10'000, 6'000, 4'000}));
}

TEST(Flame, NamesTimeOutsideUserCode) {
  const test::Recording m = with_time_outside();
  const FlameTree wall = flame(m, std::nullopt, {}, FlameTime::wall, 0);
  expect_sums(wall);
  const std::map<Path, naive::Frame> frames = frames_of(wall);
  EXPECT_EQ(frames.at({0_fn}).self, 30U);
  EXPECT_EQ(frames.at({0_fn, outside_user_code}).self, 30U);
  EXPECT_EQ(frames.at({0_fn, 1_fn}).self, 15U);
  EXPECT_EQ(frames.at({0_fn, 1_fn, outside_user_code}).self, 25U);
  EXPECT_EQ(wall.inclusive[0], 100U);
  const std::map<Path, naive::Frame> on =
      frames_of(flame(m, std::nullopt, {}, FlameTime::on_cpu, 0));
  EXPECT_EQ(on.at({0_fn, 1_fn, outside_user_code}).self, 10U);
  EXPECT_EQ(on.at({0_fn, 1_fn}).self, 15U);
  const std::map<Path, naive::Frame> off =
      frames_of(flame(m, std::nullopt, {}, FlameTime::off_cpu, 0));
  EXPECT_EQ(off.size(), 2U);
  EXPECT_EQ(off.at({0_fn, 1_fn}).self, 15U);
  EXPECT_EQ(frame_function(m, outside_user_code).name, "[outside user code]");
}

// Off the CPU for 400 ns: 300 of them in `inner`, and 40 for no known reason.
TEST(Flame, WhatCallsWaitedForIsALeafForEachReason) {
  test::Recording m = test::empty_recording(10'000);
  test::add_function(m, "outer");
  test::add_function(m, "inner");
  const auto outer = test::add_call(m, {.function = 0_fn, .latency = 1000, .blocked = 400});
  test::add_call(m,
                 {.function = 1_fn, .parent = outer, .start = 100, .latency = 500, .blocked = 300});
  waits::Waits waits;
  const auto add = [&waits](std::uint64_t begin, std::uint64_t end, waits::Reason reason) {
    waits.all.push_back({.tid = 1, .begin = begin, .end = end, .reason = reason});
  };
  add(150, 350, waits::Reason::lock);
  add(400, 500, waits::Reason::sleep);
  add(700, 760, waits::Reason::disk);
  add(5'000, 6'000, waits::Reason::network); // in no call
  const auto leaf = [](const FlameTree& tree, const Path& path, const WaitCause& cause) {
    for (const auto& [frames, frame] : frames_of(tree)) {
      if (frames.size() == path.size() + 1 &&
          std::ranges::equal(path, frames | std::views::take(path.size())) &&
          waits_for(frames.back()) == cause) {
        return frame.self;
      }
    }
    return std::uint64_t{0};
  };
  for (const FlameTime time : {FlameTime::wall, FlameTime::off_cpu}) {
    const FlameTree tree = flame(m, 0_fn, {}, time, 0, &waits);
    expect_sums(tree);
    const bool wall = time == FlameTime::wall;
    EXPECT_EQ(tree.inclusive[0], wall ? 1000U : 400U);
    EXPECT_EQ(tree.size(), 6U);
    EXPECT_EQ(frames_of(tree).at({0_fn}).self, wall ? 440U : 40U);
    EXPECT_EQ(frames_of(tree).at({0_fn, 1_fn}).self, wall ? 200U : 0U);
    EXPECT_EQ(leaf(tree, {0_fn}, {.reason = waits::Reason::disk}), 60U);
    EXPECT_EQ(leaf(tree, {0_fn, 1_fn}, {.reason = waits::Reason::lock}), 200U);
    EXPECT_EQ(leaf(tree, {0_fn, 1_fn}, {.reason = waits::Reason::sleep}), 100U);
  }
  EXPECT_EQ(flame(m, 0_fn, {}, FlameTime::on_cpu, 0, &waits).size(), 3U);
  EXPECT_EQ(waits_for(0_fn), std::nullopt);
  EXPECT_EQ(waits_for(outside_user_code), std::nullopt);
}

// Nothing recorded why. outer() waits for 20 ns itself, and for 60 ns in a call of a function that
// waits for a lock.
TEST(Flame, WithoutRecordedReasonsTheFunctionThatWaitedGivesTheLikelyOne) {
  test::Recording m = test::empty_recording(10'000);
  test::add_function(m, "outer()");
  test::add_function(m, "pthread_mutex_lock@plt");
  const auto outer = test::add_call(m, {.function = 0_fn, .latency = 1000, .blocked = 80});
  test::add_call(m,
                 {.function = 1_fn, .parent = outer, .start = 100, .latency = 100, .blocked = 60});
  waits::Waits waits;
  waits.all = {{.tid = 1, .begin = 110, .end = 170}, {.tid = 1, .begin = 500, .end = 520}};
  std::map<std::string, std::uint64_t> leaves;
  const FlameTree tree = flame(m, 0_fn, {}, FlameTime::wall, 0, &waits);
  expect_sums(tree);
  for (const auto& [path, frame] : frames_of(tree)) {
    if (waits_for(path.back())) {
      leaves[frame_function(m, path.back()).name] += frame.self;
    }
  }
  EXPECT_EQ(leaves, (std::map<std::string, std::uint64_t>{{"[likely waiting: lock]", 60},
                                                          {"[waiting: unknown]", 20}}));
  for (const bool likely : {false, true}) {
    const WaitCause cause{.reason = waits::Reason::lock, .likely = likely};
    EXPECT_EQ(std::ranges::count_if(tree.function,
                                    [&](FunctionId each) { return waits_for(each) == cause; }),
              likely ? 1 : 0);
  }
}

class RandomFlame : public testing::TestWithParam<std::uint32_t> {
protected:
  test::Recording m_ = test::random_recording({.seed = GetParam(), .threads = 2, .calls = 200});
  Measurement asked_ = m_;
};

TEST_P(RandomFlame, MergesAllStacks) {
  for (const auto& [time, naive_time] : times) {
    const FlameTree tree = flame(asked_, std::nullopt, {}, time, 0);
    expect_sums(tree);
    expect_same(tree, naive::stacks_of(m_, all_calls(m_), nullptr, naive_time));
  }
}

TEST_P(RandomFlame, BeginsAtTheOutermostCallsOfAFunction) {
  for (const FunctionId function : m_.functions.ids()) {
    Calls top = naive::only_complete(m_, naive::calls_of(m_, function));
    if (top.empty()) {
      top = naive::calls_of(m_, function);
    }
    for (const auto& [time, naive_time] : times) {
      const FlameTree tree = flame(asked_, function, {}, time, 0);
      expect_sums(tree);
      expect_same(tree, naive::stacks_of(m_, with_below(m_, top), &top, naive_time));
    }
  }
}

TEST_P(RandomFlame, CountsOnlySelectedCalls) {
  Selection selection;
  selection.latency = Interval{.low = 50, .high = 500};
  selection.tids = {m_.threads[0].tid};
  Calls admitted;
  for (const std::uint32_t call : all_calls(m_)) {
    if (m_.calls.thread[call] == 0 && m_.calls.latency[call] >= 50 &&
        m_.calls.latency[call] <= 500) {
      admitted.push_back(call);
    }
  }
  const FlameTree tree = flame(asked_, std::nullopt, selection, FlameTime::wall, 0);
  expect_sums(tree);
  expect_same(tree, naive::stacks_of(m_, with_below(m_, admitted), nullptr, naive::Time::wall));
  std::vector<bool> is_leaf(tree.size(), true);
  for (std::size_t node = 1; node < tree.size(); ++node) {
    is_leaf[tree.parent[node]] = false;
  }
  for (std::size_t node = 1; node < tree.size(); ++node) {
    EXPECT_TRUE(!is_leaf[node] || tree.calls[node] > 0) << "a branch without a counted call";
  }

  Calls top;
  std::ranges::copy_if(admitted, std::back_inserter(top),
                       [&](std::uint32_t call) { return m_.calls.function[call] == 0_fn; });
  selection.states = stacks::CallStates::all();
  expect_same(flame(asked_, 0_fn, selection, FlameTime::wall, 0),
              naive::stacks_of(m_, with_below(m_, top), &top, naive::Time::wall));
}

TEST_P(RandomFlame, SmallFunctionsNeedNoNodes) {
  for (const FlameTime time : {FlameTime::wall, FlameTime::on_cpu, FlameTime::off_cpu}) {
    const FlameTree whole = flame(asked_, std::nullopt, {}, time, 0);
    for (const double smallest : {1e-6, 0.001, 0.01, 0.05, 0.2, 1.0}) {
      const FlameTree quick = flame(asked_, std::nullopt, {}, time, smallest);
      const FlameTree expected = pruned(whole, smallest);
      EXPECT_EQ(quick.parent, expected.parent) << smallest;
      EXPECT_EQ(quick.function, expected.function) << smallest;
      EXPECT_EQ(quick.inclusive, expected.inclusive) << smallest;
      EXPECT_EQ(quick.self, expected.self) << smallest;
      EXPECT_EQ(quick.calls, expected.calls) << smallest;
      EXPECT_EQ(quick.uncertainty, expected.uncertainty) << smallest;
      EXPECT_EQ(quick.merged, expected.merged) << smallest;
      for (std::size_t node = 0; node < quick.size(); ++node) {
        EXPECT_TRUE(quick.merged_nodes[node] == expected.merged_nodes[node] ||
                    quick.merged_nodes[node] == FlameTree::not_counted);
      }
    }
  }
}

TEST_P(RandomFlame, PruningKeepsMoreBelowTheNodeInFocus) {
  constexpr double smallest = 0.1;
  const FlameTree whole = flame(asked_, std::nullopt, {}, FlameTime::wall, 0);
  for (std::uint32_t focus = 0; focus < whole.size(); focus += 7) {
    const FlameTree tree = pruned(whole, smallest, focus);
    expect_sums(tree);
    std::multimap<FunctionId, std::uint64_t> expected; // inclusive time by function
    for (std::uint32_t node = 0; node < whole.size(); ++node) {
      bool above = node == 0; // the node in focus or one that calls it
      for (std::uint32_t at = focus; at != 0; at = whole.parent[at]) {
        above = above || at == node;
      }
      bool below = node == focus;
      for (std::uint32_t at = node; at != 0; at = whole.parent[at]) {
        below = below || at == focus;
      }
      const std::uint64_t of = below ? whole.inclusive[focus] : whole.inclusive[0];
      if (above ||
          static_cast<double>(whole.inclusive[node]) >= smallest * static_cast<double>(of)) {
        expected.emplace(whole.function[node], whole.inclusive[node]);
      }
    }
    std::multimap<FunctionId, std::uint64_t> kept;
    for (std::uint32_t node = 0; node < tree.size(); ++node) {
      kept.emplace(tree.function[node], tree.inclusive[node]);
    }
    EXPECT_TRUE(std::ranges::is_permutation(kept, expected)) << "focus " << focus;
  }
}

TEST_P(RandomFlame, PruningMovesTimeButLosesNone) {
  constexpr double smallest = 0.02;
  const FlameTree whole = flame(asked_, std::nullopt, {}, FlameTime::wall, 0);
  const FlameTree pruned = flame(asked_, std::nullopt, {}, FlameTime::wall, smallest);
  expect_sums(pruned);
  EXPECT_EQ(pruned.inclusive[0], whole.inclusive[0]);
  EXPECT_LT(pruned.size(), whole.size());
  const auto limit = smallest * static_cast<double>(whole.inclusive[0]);
  std::size_t large = 0;
  for (const std::uint64_t inclusive : whole.inclusive) {
    large += static_cast<double>(inclusive) >= limit ? 1 : 0;
  }
  EXPECT_EQ(pruned.size(), large);
  EXPECT_EQ(flame(asked_, std::nullopt, {}, FlameTime::wall, 2).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFlame, testing::Range(100U, 108U));

TEST(Flame, SplitsOnAndOffCpuByWhereTheTimeWasSpent) {
  test::Recording m = test::empty_recording(100);
  const auto outer = test::add_function(m, "outer");
  const auto inner = test::add_function(m, "inner");
  // 100 ns, off-CPU 30; 40 of them in inner, off-CPU 25 there: 5 off-CPU are outer's own.
  const auto call = test::add_call(m, {.function = outer, .latency = 100, .blocked = 30});
  test::add_call(m, {.function = inner, .parent = call, .start = 10, .latency = 40, .blocked = 25});
  const FlameTree wall = flame(m, std::nullopt, {}, FlameTime::wall, 0);
  EXPECT_EQ(wall.self, (std::vector<std::uint64_t>{0, 60, 40}));
  EXPECT_EQ(wall.inclusive, (std::vector<std::uint64_t>{100, 100, 40}));
  EXPECT_EQ(flame(m, std::nullopt, {}, FlameTime::on_cpu, 0).self,
            (std::vector<std::uint64_t>{0, 55, 15}));
  EXPECT_EQ(flame(m, std::nullopt, {}, FlameTime::off_cpu, 0).self,
            (std::vector<std::uint64_t>{0, 5, 25}));
}

TEST(Flame, OfNoCallsIsItsRoot) {
  const test::Recording m = test::empty_recording(100);
  for (const std::optional<FunctionId> function : {std::optional<FunctionId>(), {7_fn}}) {
    const FlameTree tree = flame(m, function, {}, FlameTime::on_cpu, 0.5);
    EXPECT_EQ(tree.size(), 1U);
    EXPECT_EQ(tree.inclusive[0], 0U);
  }
}

} // namespace
} // namespace ptlens::measure
