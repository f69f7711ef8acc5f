// Time lines of calls that are written by hand.
#include "measure/recordings.hpp"
#include "measure/timeline/timeline.hpp"

#include <gtest/gtest.h>

namespace ptlens::measure {
namespace {

using test::add_call;
using test::add_function;

TEST(CallNames, AreAThreadAndAStart) {
  const auto name = parse_call_name("4711:123456789012");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->tid, 4711);
  EXPECT_EQ(name->start, 123'456'789'012U);
  for (const char* text : {"", "4711", "4711:", ":5", "-1:5", "4711:5x", "a:b", "1:-5"}) {
    EXPECT_FALSE(parse_call_name(text).has_value()) << text;
  }
}

// `serve` calls open, lookup and close, in this order, from three call sites.
class Timelines : public testing::Test {
protected:
  void SetUp() override {
    m_.threads.push_back({.pid = 1, .tid = 2, .comm = "filler", .last_ns = 1'000'000'000});
    m_.recording.off_cpu_known = true;
    serve_ = add_function(m_, "serve()", "/bin/app", 0x100);
    for (const char* name : {"open()", "lookup()", "close()", "refill()"}) {
      const auto function = add_function(m_, name, "/bin/app", 0x200 + 0x100 * m_.functions.size());
      m_.sites.push_back(
          {.function = serve_, .address = 0x110 + index_of(function), .file = "a.c", .line = 1});
    }
  }
  static stacks::FunctionId function(std::uint32_t step) { return stacks::FunctionId{step + 1}; }

  // A call of serve that calls the steps, each for 100 ns, `gap` ns after one another.
  void serve(std::uint64_t start, std::uint64_t latency, const std::vector<std::uint32_t>& steps,
             std::uint32_t thread = 0) {
    const auto call =
        add_call(m_, {.function = serve_, .start = start, .latency = latency, .thread = thread});
    std::uint64_t at = start + 10;
    for (const std::uint32_t step : steps) {
      add_call(m_, {.function = function(step),
                    .parent = call,
                    .start = at,
                    .latency = 100,
                    .site = stacks::SiteId{step},
                    .thread = thread});
      at += 110;
    }
  }
  Result<Timeline> shown(std::uint64_t start) {
    return timeline(Measurement(m_), waits_, serve_, {.tid = 1, .start = start});
  }

  test::Recording m_ = test::empty_recording(1'000'000'000);
  waits::Waits waits_;
  stacks::FunctionId serve_{};
};

TEST_F(Timelines, ContainNestedCallsInOrderWithTheirDepths) {
  const auto call = add_call(m_, {.function = serve_, .start = 1'000, .latency = 900});
  const auto open =
      add_call(m_, {.function = function(0), .parent = call, .start = 1'010, .latency = 500});
  add_call(m_, {.function = function(1), .parent = open, .start = 1'020, .latency = 100});
  add_call(m_, {.function = function(2), .parent = call, .start = 1'600, .latency = 100});
  serve(3'000, 500, {0});
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  const stacks::CallTable& calls = made->subset.calls();
  std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
  for (const NestedCall& nested : made->tree.calls) {
    found.emplace_back(nested.depth, calls.start[nested.row]);
  }
  EXPECT_EQ(found, (std::vector<std::pair<std::uint32_t, std::uint64_t>>{
                       {0, 1'000}, {1, 1'010}, {2, 1'020}, {1, 1'600}}));
  EXPECT_EQ(calls_in(calls, made->row, 2).left_out, 2U);
}

TEST_F(Timelines, AnUnknownCallIsRefusedWithTheNearestOne) {
  serve(1'000, 500, {0});
  serve(9'000, 500, {0});
  const auto made = shown(8'000);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().kind, Error::Kind::not_found);
  EXPECT_NE(made.error().remedy.find("--call 1:9000"), std::string::npos);
}

// Typical calls: open, lookup, close. The slow one: open, refill, lookup, lookup, close.
TEST_F(Timelines, TheTwinIsAlignedAndTheFirstDivergenceIsMarked) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    serve(number * 10'000, 400, {0, 1, 2});
  }
  serve(500'000, 5'000, {0, 3, 1, 1, 2});
  const auto made = shown(500'000);
  ASSERT_TRUE(made.has_value());
  ASSERT_TRUE(made->twin.has_value());
  const stacks::CallTable& calls = made->subset.calls();
  std::string aligned;
  for (const AlignedCall& call : made->twin->calls) {
    const std::uint32_t row = call.row == AlignedCall::none ? call.twin_row : call.row;
    aligned += std::to_string(index_of(calls.function[row]) - 1);
    aligned += call.in_both() ? "= " : call.row == AlignedCall::none ? "- " : "+ ";
  }
  EXPECT_EQ(std::count(aligned.begin(), aligned.end(), '='), 3);
  EXPECT_EQ(std::count(aligned.begin(), aligned.end(), '+'), 2);
  EXPECT_EQ(std::count(aligned.begin(), aligned.end(), '-'), 0);
  EXPECT_TRUE(aligned.starts_with("0= 3+ ")) << aligned;
  EXPECT_TRUE(aligned.ends_with("2= ")) << aligned;
  EXPECT_EQ(made->twin->first_divergence, 1U);
}

// Of the typical calls only one makes the same calls.
TEST_F(Timelines, TheTwinIsTheTypicalCallWithTheMostCommonCalls) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    serve(number * 10'000, 400,
          number == 7 ? std::vector<std::uint32_t>{0, 3, 2} : std::vector<std::uint32_t>{1});
  }
  serve(500'000, 5'000, {0, 3, 2});
  const auto made = shown(500'000);
  ASSERT_TRUE(made.has_value() && made->twin.has_value());
  EXPECT_EQ(made->subset.calls().start[made->twin->row], 70'000U);
  EXPECT_FALSE(made->twin->first_divergence.has_value());
}

TEST_F(Timelines, AnOnlyCallHasNoTwin) {
  serve(1'000, 500, {0});
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  EXPECT_FALSE(made->twin.has_value());
}

// The thread waits from 1,100 to 4,000 ns. refill() on thread 2, from 900 to 3,950 ns, ended that.
TEST_F(Timelines, ShowWaitsAndTheCallThatEndedThem) {
  serve(1'000, 4'000, {});
  add_call(m_, {.function = function(3), .start = 900, .latency = 3'050, .thread = 1});
  add_call(m_, {.function = function(3), .start = 8'000, .latency = 50, .thread = 1});
  waits_.recorded = true;
  waits_.thread_names[2] = "filler";
  waits_.functions.push_back({.name = "refill()",
                              .binary = "/bin/app",
                              .address = m_.functions[function(3)].address,
                              .file = ""});
  waits_.sites.push_back({.function = stacks::FunctionId{0}, .file = "a.c", .line = 9});
  waits_.stacks.push_back({stacks::SiteId{0}});
  waits_.all.push_back({.tid = 1,
                        .begin = 1'100,
                        .end = 4'000,
                        .reason = waits::Reason::lock,
                        .waker = {.kind = waits::Waker::Kind::thread,
                                  .tid = 2,
                                  .time_ns = 3'900,
                                  .stack = waits::StackId{0}}});
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->waits.size(), 1U);
  EXPECT_EQ(made->waits[0].begin, 1'100U);
  EXPECT_EQ(made->waits[0].end, 4'000U);
  EXPECT_EQ(made->waits[0].woken, 3'900U);
  EXPECT_EQ(made->waits[0].wait.reason, waits::Reason::lock);
  EXPECT_EQ(made->waits[0].wait.wakers.at(0).place.function, "refill()");
  ASSERT_EQ(made->meanwhile.size(), 1U);
  EXPECT_EQ(made->meanwhile[0].function, "refill()");
  EXPECT_EQ(made->meanwhile[0].start, 900U);
  EXPECT_EQ(made->meanwhile[0].end, 3'950U);
}

// serve makes 10 calls of open, and each of them makes 3,000 calls of lookup, one every 10 ns:
// 30,010 calls. The time line shows 1,999 of them beside the call itself.
// The call lasts from 1,000 to 1,400 ns.
TEST_F(Timelines, ShowTheLostTimeInTheCall) {
  serve(1'000, 400, {0});
  m_.threads[0].lost = {{100, 200}, {900, 1'050}, {1'100, 1'150}, {1'390, 2'000}, {3'000, 3'100}};
  m_.threads[1].lost = {{1'000, 1'400}};
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->lost, (std::vector<stacks::Gap>{{1'000, 1'050}, {1'100, 1'150}, {1'390, 1'400}}));
}

TEST_F(Timelines, OfALongCallOnlyWhatIsShownIsRead) {
  const auto call = add_call(m_, {.function = serve_, .start = 1'000, .latency = 400'000});
  for (std::uint64_t open = 0; open < 10; ++open) {
    const std::uint64_t at = 2'000 + open * 35'000;
    const auto made =
        add_call(m_, {.function = function(0), .parent = call, .start = at, .latency = 31'000});
    for (std::uint64_t lookup = 0; lookup < 3'000; ++lookup) {
      add_call(
          m_,
          {.function = function(1), .parent = made, .start = at + 10 + 10 * lookup, .latency = 5});
    }
  }
  serve(500'000, 400, {0, 1, 2});
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->tree.calls.size(), 2'000U);
  EXPECT_EQ(made->tree.left_out, 28'011U);
  EXPECT_LT(made->subset.calls().size(), 6'000U);
  const stacks::CallTable& calls = made->subset.calls();
  // The call, the first open and its 1,998 first lookups.
  EXPECT_EQ(calls.start[made->tree.calls.back().row], 2'010U + 10 * 1'997);
  EXPECT_EQ(made->tree.calls.back().depth, 2U);
  ASSERT_TRUE(made->twin.has_value());
  std::vector<std::uint64_t>
      aligned; // starts of the direct calls, which lie after all that is shown
  for (const AlignedCall& each : made->twin->calls) {
    if (each.row != AlignedCall::none) {
      aligned.push_back(calls.start[each.row]);
    }
  }
  ASSERT_EQ(aligned.size(), 10U);
  EXPECT_EQ(aligned.back(), 2'000U + 9 * 35'000);
}

// The next call of serve begins when this one ends, at 2,000 ns, as do calls in both. The call in
// the first one that begins then has no length.
TEST_F(Timelines, CallsAtTheEndBelongToTheCallThatMadeThem) {
  const auto first = add_call(m_, {.function = serve_, .start = 1'000, .latency = 1'000});
  add_call(m_, {.function = function(0), .parent = first, .start = 1'000, .latency = 300});
  add_call(m_, {.function = function(1), .parent = first, .start = 2'000, .latency = 0});
  const auto next = add_call(m_, {.function = serve_, .start = 2'000, .latency = 500});
  const auto open =
      add_call(m_, {.function = function(0), .parent = next, .start = 2'000, .latency = 400});
  add_call(m_, {.function = function(1), .parent = open, .start = 2'000, .latency = 100});
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->tree.calls.size(), 3U);
  EXPECT_EQ(made->tree.left_out, 0U);
  const auto after = shown(2'000);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->tree.calls.size(), 3U);
  EXPECT_EQ(after->tree.left_out, 0U);
}

// A root begins while the call is open, as after a gap: what it makes is not in the call.
TEST_F(Timelines, CallsBelowAnotherRootAreNotInTheCall) {
  const auto call = add_call(m_, {.function = serve_, .start = 1'000, .latency = 9'000});
  add_call(m_, {.function = function(0), .parent = call, .start = 1'500, .latency = 100});
  const auto root = add_call(m_, {.function = function(3), .start = 2'000, .latency = 5'000});
  for (std::uint64_t at = 0; at < 20; ++at) {
    add_call(m_,
             {.function = function(1), .parent = root, .start = 2'100 + 100 * at, .latency = 50});
  }
  add_call(m_, {.function = function(1), .parent = call, .start = 8'000, .latency = 100});
  const auto made = shown(1'000);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->tree.calls.size(), 3U);
  EXPECT_EQ(made->tree.left_out, 0U);
}

// The calls below a call of the table, by their parents, with their depths and starts.
std::vector<std::pair<std::uint32_t, std::uint64_t>> naive_tree(const stacks::CallTable& calls,
                                                                std::uint32_t top) {
  std::vector<std::uint32_t> depth(calls.size(), UINT32_MAX);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> found = {{0, calls.start[top]}};
  depth[top] = 0;
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    const stacks::CallIndex parent = calls.parent[row];
    if (parent != stacks::CallIndex::none && depth[index_of(parent)] != UINT32_MAX) {
      depth[row] = depth[index_of(parent)] + 1;
      found.emplace_back(depth[row], calls.start[row]);
    }
  }
  return found;
}

// Returns whether thread, start and function do not name the call alone.
bool has_namesake(const stacks::CallTable& calls, std::uint32_t call) {
  for (std::uint32_t row = 0; row < calls.size(); ++row) {
    if (row != call && calls.thread[row] == calls.thread[call] &&
        calls.start[row] == calls.start[call] && calls.function[row] == calls.function[call]) {
      return true;
    }
  }
  return false;
}

TEST(TimelineOfRandomCalls, HasTheCallsThatTheirParentsSay) {
  std::uint64_t left_out = 0;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const test::Recording m = test::random_recording(
        {.seed = seed, .threads = 2, .functions = 5, .calls = 4'000, .deepest = 30});
    const Measurement measurement = m;
    std::uint32_t compared = 0;
    for (std::uint32_t row = 0; row < m.calls.size() && compared < 150; row += 29) {
      if (has_namesake(m.calls, row)) {
        continue;
      }
      ++compared;
      const auto expected = naive_tree(m.calls, row);
      const std::int32_t tid = m.threads[m.calls.thread[row]].tid;
      const auto made = timeline(measurement, {}, m.calls.function[row],
                                 {.tid = tid, .start = m.calls.start[row]});
      ASSERT_TRUE(made.has_value());
      const stacks::CallTable& calls = made->subset.calls();
      std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
      for (const NestedCall& nested : made->tree.calls) {
        found.emplace_back(nested.depth, calls.start[nested.row]);
      }
      EXPECT_EQ(found.size() + made->tree.left_out, expected.size()) << seed << " " << row;
      ASSERT_LE(found.size(), expected.size());
      EXPECT_EQ(found, std::vector(expected.begin(),
                                   expected.begin() + static_cast<std::ptrdiff_t>(found.size())))
          << seed << " " << row;
      left_out += made->tree.left_out;
    }
    EXPECT_GT(compared, 20U) << seed;
  }
  EXPECT_GT(left_out, 0U);
}

} // namespace
} // namespace ptlens::measure
