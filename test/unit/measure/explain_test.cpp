// Explanations of calls whose slowness has a known cause, with shares that were computed by hand;
// and the identities of random recordings.
#include "measure/explain/explain.hpp"
#include "measure/recordings.hpp"
#include "measure/statistics/value_at_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

namespace ptlens::measure {
namespace {

using test::add_call;
using test::add_function;

// A function `work` that calls `lookup` once (2 us) and takes 8 us itself. Slow calls differ as
// each test says.
class Explain : public testing::Test {
protected:
  void SetUp() override {
    work_ = add_function(m_, "work(int)");
    lookup_ = add_function(m_, "lookup(int)");
    audit_ = add_function(m_, "write_audit()");
    sync_ = add_function(m_, "fsync");
  }

  stacks::CallIndex begin(std::uint64_t latency, std::uint64_t blocked = 0) {
    at_ += 1'000'000;
    return add_call(m_, {.function = work_, .start = at_, .latency = latency, .blocked = blocked});
  }
  stacks::CallIndex child(stacks::FunctionId function, stacks::CallIndex parent,
                          std::uint64_t offset, std::uint64_t latency, std::uint64_t blocked = 0) {
    return add_call(m_, {.function = function,
                         .parent = parent,
                         .start = m_.calls.start[index_of(parent)] + offset,
                         .latency = latency,
                         .blocked = blocked});
  }
  void typical(int calls) {
    for (int count = 0; count < calls; ++count) {
      child(lookup_, begin(10'000), 1'000, 2'000);
    }
  }
  // Nine more calls of lookup, each as long as ever: 28 us.
  void looks_up_ten_times() {
    const stacks::CallIndex call = begin(28'000);
    for (std::uint64_t count = 0; count < 10; ++count) {
      child(lookup_, call, 1'000 + count * 2'000, 2'000);
    }
  }
  // write_audit waits for 100 us in fsync, which is called from it: 112 us.
  void audits() {
    const stacks::CallIndex call = begin(112'000, 100'000);
    child(lookup_, call, 1'000, 2'000);
    const stacks::CallIndex audit = child(audit_, call, 5'000, 102'000, 100'000);
    child(sync_, audit, 1'000, 101'000, 100'000);
  }

  Explanation explained(const char* slow) const {
    SetChoice sets;
    sets.slow = *parse_latency_range(slow);
    auto result = explain(m_, work_, {}, sets);
    EXPECT_TRUE(result) << result.error().one_line();
    return *result;
  }
  static const Component& find(const Explanation& explanation, PartKind kind,
                               stacks::FunctionId function) {
    for (const Component& component : explanation.components) {
      if (component.part.key.kind == kind && component.part.key.function == function) {
        return component;
      }
    }
    ADD_FAILURE() << "no such component";
    return explanation.components.front();
  }

  test::Recording m_ = test::empty_recording(10'000'000'000);
  stacks::FunctionId work_{};
  stacks::FunctionId lookup_{};
  stacks::FunctionId audit_{};
  stacks::FunctionId sync_{};
  std::uint64_t at_ = 0;
};

TEST_F(Explain, DividesAChildIntoMoreCallsAndLongerOnes) {
  typical(100);
  for (int count = 0; count < 25; ++count) {
    looks_up_ten_times();
  }
  const Explanation result = explained(">20us");
  EXPECT_EQ(result.slow.calls, 25U);
  EXPECT_DOUBLE_EQ(result.slow.mean, 28'000);
  EXPECT_DOUBLE_EQ(result.typical.mean, 10'000);
  EXPECT_DOUBLE_EQ(result.gap, 18'000);
  const Component& lookup = find(result, PartKind::child, lookup_);
  EXPECT_DOUBLE_EQ(lookup.part.share, 1);
  EXPECT_DOUBLE_EQ(lookup.part.slow_count, 10);
  EXPECT_DOUBLE_EQ(lookup.part.typical_count, 1);
  EXPECT_DOUBLE_EQ(lookup.part.count_part, 18'000);
  EXPECT_NEAR(lookup.part.cost_part, 0, 1e-9);
  EXPECT_EQ(lookup.part.slow_presence, 25U);
  EXPECT_FALSE(result.few_slow_calls);
  ASSERT_EQ(result.kinds.size(), 1U);
  EXPECT_EQ(result.kinds.front().predicate.kind, Predicate::Kind::count);
  EXPECT_EQ(result.kinds.front().predicate.at_least, 10U);
  EXPECT_DOUBLE_EQ(result.kinds.front().precision, 1);
  EXPECT_DOUBLE_EQ(result.kinds.front().recall, 1);
}

TEST_F(Explain, FollowsAChildDownToItsWait) {
  typical(100);
  audits();
  const Explanation result = explained(">20us");
  EXPECT_DOUBLE_EQ(result.gap, 102'000);
  EXPECT_TRUE(result.few_slow_calls);
  const Component& audit = find(result, PartKind::child, audit_);
  EXPECT_DOUBLE_EQ(audit.part.share, 1);
  EXPECT_EQ(audit.part.typical_presence, 0U);
  EXPECT_DOUBLE_EQ(audit.part.count_part, 102'000);
  ASSERT_EQ(audit.path.size(), 2U);
  EXPECT_EQ(audit.path[0].key.function, sync_);
  EXPECT_DOUBLE_EQ(audit.path[0].delta, 101'000);
  EXPECT_EQ(audit.path[1].key.kind, PartKind::blocked);
  EXPECT_DOUBLE_EQ(audit.path[1].delta, 100'000);
  ASSERT_TRUE(audit.part.example);
  EXPECT_EQ(audit.part.example->start, at_);
}

TEST_F(Explain, SeparatesTwoIndependentCauses) {
  typical(1'000);
  for (int count = 0; count < 30; ++count) {
    looks_up_ten_times();
  }
  for (int count = 0; count < 20; ++count) {
    audits();
  }
  const Explanation result = explained(">20us");
  // Mean of the slow calls: (30 x 28 + 20 x 112) / 50 = 61.6 us, 51.6 us above typical ones.
  EXPECT_DOUBLE_EQ(result.gap, 51'600);
  EXPECT_NEAR(find(result, PartKind::child, audit_).part.share, 20 * 102.0 / 50 / 51.6, 1e-12);
  EXPECT_NEAR(find(result, PartKind::child, lookup_).part.share, 30 * 18.0 / 50 / 51.6, 1e-12);
  ASSERT_EQ(result.kinds.size(), 2U);
  EXPECT_EQ(result.kinds[0].calls, 30U);
  EXPECT_EQ(result.kinds[1].calls, 20U);
  EXPECT_DOUBLE_EQ(result.kinds[0].precision, 1);
  EXPECT_DOUBLE_EQ(result.kinds[1].precision, 1);
  const Component& audit = find(result, PartKind::child, audit_);
  EXPECT_LT(audit.share_low, audit.part.share);
  EXPECT_GT(audit.share_high, audit.part.share);
}

TEST_F(Explain, ComparesASelectionWithTypicalCallsOfAllThreads) {
  typical(50);
  m_.threads.push_back(m_.threads.front());
  m_.threads.back().tid = 2;
  add_call(m_, {.function = work_, .start = 5, .latency = 40'000, .thread = 1});
  Selection selection;
  selection.tids = {2};
  const auto result = explain(m_, work_, selection, {});
  ASSERT_TRUE(result) << result.error().one_line();
  EXPECT_EQ(result->slow.calls, 1U);
  EXPECT_DOUBLE_EQ(result->gap, 30'000);
  // 40 us of own instructions instead of 8, and no lookup, which took 2.
  EXPECT_DOUBLE_EQ(find(*result, PartKind::self, work_).part.share, 32.0 / 30);
  EXPECT_DOUBLE_EQ(find(*result, PartKind::child, lookup_).part.share, -2.0 / 30);
}

TEST_F(Explain, LeavesOutIncompleteCalls) {
  typical(50);
  looks_up_ten_times();
  add_call(m_, {.function = work_,
                .start = at_ + 1'000'000,
                .latency = 900'000,
                .state = stacks::CallState::incomplete});
  const Explanation result = explained("20us,");
  EXPECT_EQ(result.slow.calls, 1U);
  EXPECT_EQ(result.left_out, 1U);
  EXPECT_EQ(result.complete, 51U);
}

TEST_F(Explain, RefusesSetsWithoutCalls) {
  typical(10);
  SetChoice sets;
  sets.slow = *parse_latency_range(">1s");
  const auto result = explain(m_, work_, {}, sets);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::bad_input);
}

TEST_F(Explain, ComparesASelectionWithAllOthers) {
  typical(50);
  looks_up_ten_times(); // 28 us
  audits();             // 112 us
  Selection selection;
  selection.latency = {.low = 100'000};
  SetChoice sets;
  sets.typical_are_others = true;
  const auto result = explain(m_, work_, selection, sets);
  ASSERT_TRUE(result) << result.error().one_line();
  EXPECT_EQ(result->slow.calls, 1U);
  EXPECT_EQ(result->typical.calls, 51U);
  EXPECT_DOUBLE_EQ(result->typical.mean, (50 * 10'000 + 28'000) / 51.0);
  EXPECT_EQ(result->typical.high, 28'000U);
}

TEST_F(Explain, ExplainsUnwoundCallsOnRequest) {
  typical(50);
  add_call(m_, {.function = work_,
                .start = at_ + 1'000'000,
                .latency = 60'000,
                .state = stacks::CallState::unwound});
  Selection selection;
  selection.latency = {.low = 50'000};
  EXPECT_FALSE(explain(m_, work_, selection, {})); // of complete calls there is none
  selection.states = {stacks::CallState::complete, stacks::CallState::unwound};
  const auto result = explain(m_, work_, selection, {});
  ASSERT_TRUE(result) << result.error().one_line();
  EXPECT_DOUBLE_EQ(result->slow.mean, 60'000);
  selection.states = {stacks::CallState::incomplete};
  EXPECT_FALSE(explain(m_, work_, selection, {}));
}

TEST(ParseSets, BothSetsAndAllOthers) {
  const auto sets = parse_sets(">5ms", "others");
  ASSERT_TRUE(sets);
  EXPECT_TRUE(sets->slow && !sets->typical && sets->typical_are_others);
  const auto ranges = parse_sets("", "1us,2us");
  ASSERT_TRUE(ranges);
  EXPECT_DOUBLE_EQ(ranges->typical->low, 1'000);
  EXPECT_DOUBLE_EQ(ranges->typical->high, 1'999); // 2 us is not in it
  EXPECT_FALSE(parse_sets("others", ""));
  EXPECT_FALSE(parse_sets("", "p60-p40"));
}

TEST(RankedValues, AreThoseOfTheSortedList) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> values(1 + random() % 3'000);
    const std::uint64_t shift = random() % 64;
    for (std::uint64_t& value : values) {
      value = random() >> (round % 2 == 0 ? shift : random() % 64);
    }
    const RankedValues ranked(values);
    std::vector<std::uint64_t> sorted = values;
    std::ranges::sort(sorted);
    for (const std::size_t rank : {std::size_t{0}, sorted.size() / 3, sorted.size() - 1}) {
      EXPECT_EQ(ranked.at(rank), sorted[rank]);
    }
    EXPECT_EQ(ranked.at(sorted.size()), sorted.back());
  }
  EXPECT_EQ(RankedValues({}).at(0), 0U);
}

TEST(LatencyRange, AcceptsPercentilesAndDurations) {
  const auto p99 = parse_latency_range("p99");
  ASSERT_TRUE(p99);
  EXPECT_TRUE(p99->percentiles);
  EXPECT_DOUBLE_EQ(p99->low, 99);
  const auto middle = parse_latency_range("p40-p60");
  ASSERT_TRUE(middle);
  EXPECT_DOUBLE_EQ(middle->low, 40);
  EXPECT_DOUBLE_EQ(middle->high, 60);
  const auto above = parse_latency_range(">5ms");
  ASSERT_TRUE(above);
  EXPECT_DOUBLE_EQ(above->low, 5'000'001);
  for (const char* text : {"", "p", "p101", "p60-p40", "p40-", ">", ">x", "5ms", "q1"}) {
    EXPECT_FALSE(parse_latency_range(text)) << text;
  }
}

class ExplainRandom : public testing::TestWithParam<std::uint32_t> {};

// Latency is the sum of own time and of the direct calls, so that the shares sum to 1, and so do
// those of the variance. The means of each child are computed again from the table of calls.
TEST_P(ExplainRandom, SharesSumToOne) {
  const test::Recording m = test::random_recording({.seed = GetParam(), .calls = 2'000});
  SetChoice sets;
  sets.slow = *parse_latency_range("p80");
  sets.typical = *parse_latency_range("p0-p50");
  for (const stacks::FunctionId function : m.functions.ids()) {
    const auto result = explain(m, function, {}, sets);
    if (!result || result->gap == 0) {
      continue;
    }
    double shares = 0;
    for (const Component& component : result->components) {
      shares += component.part.share;
    }
    EXPECT_NEAR(shares, 1, 1e-9);
    const double variance =
        std::accumulate(result->variance.begin(), result->variance.end(), 0.0,
                        [](double sum, const VariancePart& part) { return sum + part.share; });
    EXPECT_NEAR(variance, 1, 1e-9);
    std::map<std::pair<stacks::FunctionId, stacks::SiteId>, double> slow_means;
    for (std::uint32_t call = 0; call < m.calls.size(); ++call) {
      const stacks::CallIndex above = m.calls.parent[call];
      const std::uint32_t parent = index_of(above);
      if (above != stacks::CallIndex::none && m.calls.function[parent] == function &&
          m.calls.state[parent] == stacks::CallState::complete &&
          m.calls.latency[parent] >= result->slow.low) {
        slow_means[{m.calls.function[call], m.calls.site[call]}] +=
            static_cast<double>(m.calls.latency[call]) / static_cast<double>(result->slow.calls);
      }
    }
    for (const Component& component : result->components) {
      if (component.part.key.kind == PartKind::child) {
        const auto key = std::pair(component.part.key.function, component.part.key.site);
        EXPECT_NEAR(component.part.slow_mean, slow_means[key], 1e-6 * (1 + slow_means[key]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExplainRandom, testing::Range(0U, 6U));

} // namespace
} // namespace ptlens::measure
