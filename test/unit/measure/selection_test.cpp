// Selections of random recordings, against a filter that is computed from the table of calls by the
// definitions alone; and all answers about a selection against the calls that it selects.
#include "measure/distribution/distribution.hpp"
#include "measure/distribution/latency_bins.hpp"
#include "measure/explain/explain.hpp"
#include "measure/naive.hpp"
#include "measure/recordings.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/call_page.hpp"
#include "measure/selection/call_stream.hpp"
#include "measure/selection/select_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <set>

namespace ptlens::measure {
namespace {

using naive::Calls;
using stacks::CallIndex;
using stacks::CallState;
using stacks::FunctionId;

using Identity = std::array<std::uint64_t, 6>;

// Returns the properties of a call that do not depend on its index.
Identity identity(const stacks::CallTable& table, std::uint32_t call) {
  return {table.thread[call],         table.start[call],   table.latency[call],
          index_of(table.site[call]), table.off_cpu(call), index_of(table.function[call])};
}

std::multiset<Identity> identities(const stacks::CallTable& table, const Calls& calls) {
  std::multiset<Identity> all;
  for (const std::uint32_t call : calls) {
    all.insert(identity(table, call));
  }
  return all;
}

Calls rows_of(const stacks::CallTable& table) {
  Calls rows(table.size());
  std::iota(rows.begin(), rows.end(), 0U);
  return rows;
}

class RandomSelection : public testing::TestWithParam<std::uint32_t> {
protected:
  void SetUp() override {
    for (const stacks::ThreadInfo& thread : m_.threads) {
      begin_ = std::min(begin_, thread.first_ns);
    }
    asked_.waits = any_waits();
  }

  std::uint64_t upto(std::uint64_t most) { return random_() % (most + 1); }
  bool chance() { return upto(2) == 0; }
  std::string any_function() {
    return m_.functions[FunctionId{static_cast<std::uint32_t>(upto(m_.functions.size() - 1))}].name;
  }
  std::int32_t any_tid() { return m_.threads[upto(m_.threads.size() - 1)].tid; }

  AskedReason any_reason() {
    const std::uint64_t reason = upto(waits::reasons);
    return reason == waits::reasons ? blocked : AskedReason(static_cast<waits::Reason>(reason));
  }

  Selection any_selection() {
    Selection selection;
    if (chance()) {
      selection.latency.low = upto(200);
      selection.latency.high = selection.latency.low + upto(400);
    }
    if (chance()) {
      selection.time.low = upto(m_.recording.trace_ns / 2);
      selection.time.high = selection.time.low + upto(m_.recording.trace_ns);
    }
    if (chance()) {
      selection.tids = {any_tid(), any_tid()};
    }
    if (chance()) {
      selection.not_tids = {any_tid()};
    }
    for (const bool negated : {false, false, true}) {
      if (chance()) {
        CallerCondition caller{.function = any_function(), .file = "", .negated = negated};
        if (chance()) {
          caller.file = upto(1) == 0 ? "file_0.cpp" : "src/file_1.cpp";
          caller.line = static_cast<std::uint32_t>(upto(1) * 10 * (1 + upto(5)));
        }
        selection.callers.push_back(caller);
      }
    }
    for (int count = 0; count < 2 && chance(); ++count) {
      selection.ancestors.push_back(
          {.function = any_function(), .latency = {.low = upto(1000), .high = 1000 + upto(5000)}});
    }
    for (int count = 0; count < 2 && chance(); ++count) {
      const std::uint64_t least = upto(2);
      selection.calls.push_back(
          {.function = any_function(), .count = {.low = least, .high = least + upto(3)}});
    }
    if (chance()) {
      selection.waited.push_back({.reason = any_reason(), .least = upto(20)});
    }
    if (chance()) {
      selection.states.add(static_cast<CallState>(upto(2)));
      selection.states.add(static_cast<CallState>(upto(2)));
    }
    selection.complement = chance();
    return selection;
  }

  // Waits of all reasons, at any times: of a thread, one after the other.
  std::shared_ptr<LazyWaits> any_waits() {
    auto made = std::make_shared<waits::Waits>();
    for (const stacks::ThreadInfo& thread : m_.threads) {
      std::uint64_t time = thread.first_ns;
      while (time < thread.last_ns) {
        const std::uint64_t begin = time + 1 + upto(100);
        time = begin + upto(60);
        made->all.push_back({.tid = thread.tid,
                             .begin = begin,
                             .end = time,
                             .reason = static_cast<waits::Reason>(upto(waits::reasons - 1))});
      }
    }
    std::ranges::stable_sort(made->all, {}, &waits::Wait::tid);
    waits_ = made;
    return std::make_shared<LazyWaits>([made] { return made; });
  }

  // By the definition: the common time of the call and the waits of its thread. Calls that were
  // never off-CPU did not wait.
  [[nodiscard]] std::uint64_t waited_for(std::uint32_t call, AskedReason reason) const {
    if (!reason) {
      return m_.calls.blocked[call];
    }
    if (*reason == waits::Reason::preempted) {
      return m_.calls.preempted[call];
    }
    std::uint64_t sum = 0;
    const std::uint64_t begin = m_.calls.start[call];
    const std::uint64_t end = begin + m_.calls.wall(call);
    for (const waits::Wait& wait : waits_->all) {
      const bool counts = wait.tid == m_.threads[m_.calls.thread[call]].tid &&
                          wait.reason == *reason && m_.calls.off_cpu(call) > 0 &&
                          wait.begin < end && wait.end > begin;
      sum += counts ? std::min(wait.end, end) - std::max(wait.begin, begin) : 0;
    }
    return sum;
  }

  [[nodiscard]] const std::string& name_of(std::uint32_t call) const {
    return m_.functions[m_.calls.function[call]].name;
  }

  // Of the site, else of the call around it.
  [[nodiscard]] std::string caller_of(std::uint32_t call) const {
    if (const stacks::SiteId site = m_.calls.site[call]; site != stacks::SiteId::none) {
      return m_.functions[m_.sites[site].function].name;
    }
    const CallIndex parent = m_.calls.parent[call];
    return parent == CallIndex::none ? "" : name_of(index_of(parent));
  }

  [[nodiscard]] bool is_made_by(std::uint32_t call, const CallerCondition& caller) const {
    if (caller_of(call) != caller.function) {
      return false;
    }
    const stacks::SiteId site = m_.calls.site[call];
    return caller.file.empty() ||
           (site != stacks::SiteId::none && m_.sites[site].file.ends_with('/' + caller.file) &&
            (caller.line == 0 || m_.sites[site].line == caller.line));
  }

  [[nodiscard]] bool has_caller(std::uint32_t call, const Selection& selection) const {
    bool any_wanted = false;
    bool found = false;
    for (const CallerCondition& caller : selection.callers) {
      if (caller.negated && is_made_by(call, caller)) {
        return false;
      }
      any_wanted = any_wanted || !caller.negated;
      found = found || (!caller.negated && is_made_by(call, caller));
    }
    return found || !any_wanted;
  }

  [[nodiscard]] bool fulfils(std::uint32_t call, const Selection& selection) const {
    const std::int32_t tid = m_.threads[m_.calls.thread[call]].tid;
    const auto within = [](const Interval& interval, std::uint64_t value) {
      return interval.low <= value && value <= interval.high;
    };
    bool fulfilled = within(selection.latency, m_.calls.latency[call]) &&
                     within(selection.time, m_.calls.start[call] - begin_) &&
                     (selection.tids.empty() || std::ranges::count(selection.tids, tid) > 0) &&
                     std::ranges::count(selection.not_tids, tid) == 0 &&
                     has_caller(call, selection);
    for (const AncestorCondition& ancestor : selection.ancestors) {
      bool inside = false;
      for (CallIndex up = m_.calls.parent[call]; up != CallIndex::none;
           up = m_.calls.parent[index_of(up)]) {
        inside |= name_of(index_of(up)) == ancestor.function &&
                  within(ancestor.latency, m_.calls.latency[index_of(up)]);
      }
      fulfilled = fulfilled && inside;
    }
    for (const CallsCondition& called : selection.calls) {
      std::uint64_t count = 0;
      for (std::uint32_t other = 0; other < m_.calls.size(); ++other) {
        count += m_.calls.parent[other] == CallIndex{call} && name_of(other) == called.function;
      }
      fulfilled = fulfilled && within(called.count, count);
    }
    for (const WaitCondition& waited : selection.waited) {
      fulfilled = fulfilled && waited_for(call, waited.reason) >= waited.least;
    }
    return fulfilled != selection.complement;
  }

  [[nodiscard]] Calls selected(FunctionId function, const Selection& selection,
                               stacks::CallStates states) const {
    Calls calls;
    for (const std::uint32_t call : naive::calls_of(m_, function)) {
      if (states.has(m_.calls.state[call]) && fulfils(call, selection)) {
        calls.push_back(call);
      }
    }
    return calls;
  }

  test::Recording m_ = test::random_recording({.seed = GetParam(), .calls = 200});
  Measurement asked_ = m_;
  std::mt19937 random_{GetParam() + 1000};
  std::uint64_t begin_ = UINT64_MAX;
  std::shared_ptr<const waits::Waits> waits_;
};

constexpr stacks::CallStates complete = {CallState::complete};

TEST_P(RandomSelection, AcceptsExactlyTheCallsThatFulfilIt) {
  std::size_t some = 0;
  for (int round = 0; round < 40; ++round) {
    const Selection selection = any_selection();
    for (const FunctionId function : m_.functions.ids()) {
      const Calls expected =
          selected(function, selection, selection.states_or(stacks::CallStates::all()));
      some += expected.empty() ? 0 : 1;
      const SelectedCalls found = read_selected(asked_, function, selection);
      EXPECT_EQ(identities(found.subset.calls(), found.calls), identities(m_.calls, expected));
    }
  }
  EXPECT_GT(some, 20U); // not all are empty
}

TEST_P(RandomSelection, ReportsAreOfTheSelectedCalls) {
  for (int round = 0; round < 20; ++round) {
    const Selection selection = any_selection();
    for (const FunctionId function : m_.functions.ids()) {
      const Report r = report(asked_, function, selection);
      const Calls figures = selected(function, selection, selection.states_or(complete));
      EXPECT_EQ(r.latency.calls, figures.size());
      EXPECT_EQ(r.latency.total, naive::total(m_, figures));
      EXPECT_DOUBLE_EQ(r.latency.mean, naive::mean(m_, figures));
      EXPECT_EQ(r.latency.p90, naive::percentile(m_, figures, 900));
      EXPECT_EQ(r.off_cpu.total, naive::off_cpu(m_, figures));
      EXPECT_EQ(r.complete, selected(function, selection, complete).size());
      EXPECT_EQ(r.unwound, selected(function, selection, {CallState::unwound}).size());
      EXPECT_EQ(r.incomplete, selected(function, selection, {CallState::incomplete}).size());
      const Calls parents =
          selected(function, selection, selection.states_or(stacks::CallStates::all()));
      const auto children = naive::children_of(m_, parents);
      ASSERT_EQ(r.children.size(), children.size());
      for (const RelatedRow& row : r.children) {
        EXPECT_EQ(row.latency.calls, children.at({row.function, row.site}).size());
      }
    }
  }
}

TEST_P(RandomSelection, PagesAndStreamsHaveEveryCallOnceInOrder) {
  const auto ids = asked_.functions.ids();
  const std::vector<FunctionId> all(ids.begin(), ids.end());
  for (int round = 0; round < 10; ++round) {
    const Selection selection = any_selection();
    Calls expected;
    for (const FunctionId function : all) {
      const Calls some =
          selected(function, selection, selection.states_or(stacks::CallStates::all()));
      expected.insert(expected.end(), some.begin(), some.end());
    }

    std::multiset<Identity> streamed;
    std::uint64_t last = 0;
    CallStream stream(asked_, all, selection, 16);
    while (const auto rows = stream.next()) {
      const stacks::CallTable& table = rows->calls();
      for (const std::uint32_t call : rows_of(table)) {
        EXPECT_GE(table.start[call], last);
        last = table.start[call];
        streamed.insert(identity(table, call));
      }
    }
    EXPECT_EQ(streamed, identities(m_.calls, expected));

    for (const CallOrder order :
         {CallOrder::start, CallOrder::latency, CallOrder::self, CallOrder::off_cpu}) {
      const bool descending = upto(1) == 0;
      const auto key = [&](const stacks::CallTable& table, std::uint32_t call) {
        const std::uint64_t value = order == CallOrder::start     ? table.start[call]
                                    : order == CallOrder::latency ? table.latency[call]
                                    : order == CallOrder::self    ? table.self(call)
                                                                  : table.off_cpu(call);
        return descending ? ~value : value;
      };
      std::vector<std::uint64_t> keys;
      for (const std::uint32_t call : expected) {
        keys.push_back(key(m_.calls, call));
      }
      std::ranges::sort(keys);
      std::vector<std::uint64_t> paged;
      std::multiset<Identity> found;
      constexpr std::uint64_t limit = 70;
      for (std::uint64_t offset = 0; offset <= expected.size(); offset += limit) {
        const CallPage page =
            read_page(asked_, all, selection,
                      {.order = order, .descending = descending, .offset = offset, .limit = limit});
        EXPECT_EQ(page.total, expected.size());
        const stacks::CallTable& table = page.calls.calls();
        for (const std::uint32_t call : rows_of(table)) {
          paged.push_back(key(table, call));
          found.insert(identity(table, call));
        }
      }
      EXPECT_EQ(paged, keys);
      EXPECT_EQ(found, identities(m_.calls, expected));
    }
  }
}

TEST_P(RandomSelection, DistributionsCountEveryCallOnce) {
  for (int round = 0; round < 10; ++round) {
    const Selection selection = any_selection();
    const DistributionShape shape{.bins = 1 + upto(60), .columns = 1 + upto(20), .points = 25};
    for (const FunctionId function : m_.functions.ids()) {
      const Distribution found = distribution(asked_, {&function, 1}, selection, shape);
      const stacks::CallStates states = selection.states_or(complete);
      Calls all;
      for (const std::uint32_t call : naive::calls_of(m_, function)) {
        if (states.has(m_.calls.state[call])) {
          all.push_back(call);
        }
      }
      const Calls some = selected(function, selection, states);
      const auto check = [&](const Calls& calls, const std::vector<CallSums>& bins,
                             const std::vector<std::uint32_t>& grid) {
        for (std::size_t bin = 0; bin < found.bins(); ++bin) {
          CallSums sums;
          for (const std::uint32_t call : calls) {
            if (m_.calls.latency[call] >= found.bounds[bin] &&
                m_.calls.latency[call] < found.bounds[bin + 1]) {
              sums.add({.calls = 1,
                        .time = m_.calls.latency[call],
                        .blocked = m_.calls.blocked[call],
                        .preempted = m_.calls.preempted[call]});
            }
          }
          EXPECT_EQ(bins[bin].calls, sums.calls);
          EXPECT_EQ(bins[bin].time, sums.time);
          EXPECT_EQ(bins[bin].blocked, sums.blocked);
          EXPECT_EQ(bins[bin].preempted, sums.preempted);
          std::uint64_t in_row = 0;
          for (std::size_t column = 0; column < found.columns; ++column) {
            in_row += grid[column * found.bins() + bin];
          }
          EXPECT_EQ(in_row, sums.calls);
        }
        std::uint64_t counted = 0;
        for (const CallSums& bin : bins) {
          counted += bin.calls;
        }
        EXPECT_EQ(counted, calls.size());
      };
      check(all, found.all, found.grid);
      check(some, found.selected, found.selected_grid);

      Calls slowest = all;
      std::ranges::sort(slowest, std::ranges::greater(),
                        [&](std::uint32_t call) { return m_.calls.latency[call]; });
      slowest.resize(std::min<std::size_t>(slowest.size(), shape.points));
      const stacks::CallTable& points = found.slowest.calls();
      ASSERT_EQ(points.size(), slowest.size());
      const std::multiset<Identity> accepted = identities(m_.calls, some);
      for (const std::uint32_t point : rows_of(points)) {
        EXPECT_EQ(points.latency[point], m_.calls.latency[slowest[point]]);
        EXPECT_EQ(found.slowest_selected[point], accepted.contains(identity(points, point)));
      }
    }
  }
}

TEST_P(RandomSelection, SlowCallsAreTheSelectedOnes) {
  for (int round = 0; round < 20; ++round) {
    Selection selection = any_selection();
    selection.states = {};
    if (selection.accepts_all()) {
      continue;
    }
    for (const FunctionId function : m_.functions.ids()) {
      const Calls slow = selected(function, selection, complete);
      const Calls all = naive::only_complete(m_, naive::calls_of(m_, function));
      SetChoice sets;
      sets.typical_are_others = true;
      const auto result = explain(asked_, function, selection, sets);
      ASSERT_EQ(result.has_value(), !slow.empty() && slow.size() < all.size());
      if (!result) {
        continue;
      }
      EXPECT_EQ(result->slow.calls, slow.size());
      EXPECT_EQ(result->typical.calls, all.size() - slow.size());
      EXPECT_NEAR(result->slow.mean, naive::mean(m_, slow), 1e-6);
      if (result->gap != 0) {
        double shares = 0;
        for (const Component& component : result->components) {
          shares += component.part.share;
        }
        EXPECT_NEAR(shares, 1, 1e-9);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSelection, testing::Range(0U, 8U));

TEST(LatencyBins, AreLogarithmicAndFindEveryLatency) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t least = random() >> (random() % 64);
    const std::uint64_t most = std::max(least, random() >> (random() % 64));
    const LatencyBins bins(least, most, 1 + random() % 100);
    const auto& bounds = bins.bounds();
    EXPECT_EQ(bounds.front(), least);
    EXPECT_TRUE(most == UINT64_MAX || bounds.back() == most + 1);
    EXPECT_TRUE(std::ranges::adjacent_find(bounds, std::ranges::greater_equal()) == bounds.end());
    for (int count = 0; count < 200; ++count) {
      const std::uint64_t latency = count == 0   ? least
                                    : count == 1 ? most
                                                 : least + random() % (most - least + 1);
      const std::size_t bin = bins.of(latency);
      ASSERT_LE(bounds[bin], latency);
      ASSERT_TRUE(latency < bounds[bin + 1] || bounds[bin + 1] == UINT64_MAX);
    }
  }
  // A factor of 1,000 in three bins: a factor of ten each.
  EXPECT_EQ(LatencyBins(1'000, 999'999, 3).bounds(),
            (std::vector<std::uint64_t>{1'000, 10'000, 100'000, 1'000'000}));
}

} // namespace
} // namespace ptlens::measure
