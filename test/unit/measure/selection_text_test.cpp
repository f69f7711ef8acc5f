// The text forms of selections: what they mean, what is refused, that printed ones are parsed as
// the same again, and random text.
#include "measure/selection/selection_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace ptlens::measure {
namespace {

using stacks::CallState;

void expect_interval(const Result<Interval>& interval, std::uint64_t low, std::uint64_t high) {
  ASSERT_TRUE(interval) << interval.error().one_line();
  EXPECT_EQ(interval->low, low);
  EXPECT_EQ(interval->high, high);
}

TEST(ParseInterval, AcceptsNanosecondsAndUnits) {
  expect_interval(parse_interval("100,200"), 100, 200);
  expect_interval(parse_interval("0,0"), 0, 0);
  expect_interval(parse_interval("5,"), 5, UINT64_MAX);
  expect_interval(parse_interval(",5"), 0, 5);
  expect_interval(parse_interval("1us,1.5ms"), 1'000, 1'500'000);
  expect_interval(parse_interval("1\u00b5s,2s"), 1'000, 2'000'000'000);
  expect_interval(parse_interval("0.000000001s,1.50us"), 1, 1'500);
  expect_interval(parse_interval("7ns,18446744073709551615"), 7, UINT64_MAX);
}

TEST(ParseInterval, TimesAreInSecondsWithoutAUnit) {
  expect_interval(parse_time("0.5,2"), 500'000'000, 2'000'000'000);
  expect_interval(parse_time("1ms,"), 1'000'000, UINT64_MAX);
  expect_interval(parse_time(",3ns"), 0, 3);
  EXPECT_FALSE(parse_time("0.0000000001,1"));
}

TEST(ParseInterval, TheEndOfALatencyDoesNotBelongToIt) {
  expect_interval(parse_half_open("100,200"), 100, 199);
  expect_interval(parse_half_open("3ms,"), 3'000'000, UINT64_MAX);
  expect_interval(parse_half_open(",1us"), 0, 999);
  for (const char* text : {"5,5", "0,0", ",0", "6,5", ",", "5"}) {
    EXPECT_FALSE(parse_half_open(text)) << text;
  }
}

TEST(ParseInterval, RefusesOtherText) {
  for (const char* text : {"",
                           ",",
                           "5",
                           "200,100",
                           "a,b",
                           "1,2,3",
                           "-1,2",
                           "1, 2",
                           " 1,2",
                           "+1,2",
                           "0x10,20",
                           "1.5,2",
                           "1.0001us,2us",
                           "1..5ms,2ms",
                           "1.ms,2ms",
                           ".5ms,2ms",
                           "1m,2m",
                           "1e3,2e3",
                           "1NS,2NS",
                           "18446744073709551616,",
                           "18446744074s,",
                           "18446744073.709551616s,",
                           "1ms\n,2ms",
                           "ms,5"}) {
    const Result<Interval> interval = parse_interval(text);
    ASSERT_FALSE(interval) << text;
    EXPECT_EQ(interval.error().kind, Error::Kind::bad_input);
    EXPECT_FALSE(interval.error().remedy.empty());
  }
}

TEST(ParseAncestor, SplitsAtCommasOutsideTheName) {
  const auto expect = [](const char* text, const char* name, std::uint64_t low,
                         std::uint64_t high) {
    const auto parsed = parse_ancestor(text);
    ASSERT_TRUE(parsed) << parsed.error().one_line();
    EXPECT_EQ(parsed->function, name);
    EXPECT_EQ(parsed->latency.low, low);
    EXPECT_EQ(parsed->latency.high, high);
  };
  expect("g", "g", 0, UINT64_MAX);
  expect("g,5", "g", 5, UINT64_MAX);
  expect("g,5us,", "g", 5'000, UINT64_MAX);
  expect("g,,5ms", "g", 0, 4'999'999);
  expect("ns::g<int, 5>(int, char),1,2", "ns::g<int, 5>(int, char)", 1, 1);
  expect("C::operator,(int, int),1,2", "C::operator,(int, int)", 1, 1);
  expect("operator<<(A, B),1,2", "operator<<(A, B)", 1, 1);
  expect("g@0x1234,1,2", "g@0x1234", 1, 1);
  for (const char* text : {"", ",1,2", "g,", "g,,", "g,2,1", "g,2,2", "g,1,2,3", "g,x", "g,1,x"}) {
    const auto refused = parse_ancestor(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind, Error::Kind::bad_input);
  }
}

TEST(ParseCaller, SplitsAtThePlace) {
  const auto expect = [](const char* text, const char* function, const char* file,
                         std::uint32_t line) {
    const auto parsed = parse_caller(text);
    ASSERT_TRUE(parsed) << parsed.error().one_line();
    EXPECT_EQ(parsed->function, function);
    EXPECT_EQ(parsed->file, file);
    EXPECT_EQ(parsed->line, line);
  };
  expect("g", "g", "", 0);
  expect("g@0x40113a", "g@0x40113a", "", 0);
  expect("g@a.cpp:12", "g", "a.cpp", 12);
  expect("g@0x40113a@a.cpp:12", "g@0x40113a", "a.cpp", 12);
  expect("g@src/a.cpp", "g", "src/a.cpp", 0);
  expect("g@0xfolder/a.cpp:3", "g", "0xfolder/a.cpp", 3);
  expect("ns::f(int, char)@node/@scope/a:b.c:3", "ns::f(int, char)", "node/@scope/a:b.c", 3);
  for (const char* text : {"", "@a.cpp:1", "g@", "g@:5"}) {
    EXPECT_FALSE(parse_caller(text)) << text;
  }
}

TEST(ParseCalls, CountsIncludeBothEnds) {
  const auto range = parse_calls("f(int, int),2,9");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->function, "f(int, int)");
  expect_interval(range->count, 2, 9);
  expect_interval(parse_calls("f")->count, 1, UINT64_MAX);
  expect_interval(parse_calls("f,0,0")->count, 0, 0);
  expect_interval(parse_calls("f,3")->count, 3, UINT64_MAX);
  for (const char* text : {"", ",1", "f,", "f,3,2", "f,1.5", "f,1ms", "f,-1"}) {
    EXPECT_FALSE(parse_calls(text)) << text;
  }
}

TEST(ParseWaited, ReasonsAndStates) {
  const auto waited = parse_waited("preempted,5us");
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->reason, waits::Reason::preempted);
  EXPECT_EQ(waited->least, 5'000U);
  EXPECT_EQ(parse_waited("blocked")->reason, blocked);
  EXPECT_EQ(parse_waited("blocked")->least, 1U);
  EXPECT_EQ(parse_waited("lock")->reason, waits::Reason::lock);
  EXPECT_EQ(parse_waited("page_fault,2ms")->reason, waits::Reason::page_fault);
  for (const char* text : {"", "bored", "blocked,", "blocked,x", "blocked,1,2"}) {
    EXPECT_FALSE(parse_waited(text)) << text;
  }
  EXPECT_EQ(*parse_states("unwound,complete"),
            (stacks::CallStates{CallState::complete, CallState::unwound}));
  for (const char* text : {"", "complete,", "done", "complete unwound"}) {
    EXPECT_FALSE(parse_states(text)) << text;
  }
}

TEST(ParseSelection, ErrorsNameTheOptionAndTheRemedy) {
  const auto message = [](const auto& set) {
    SelectionText text;
    set(text);
    const auto refused = parse_selection(text);
    EXPECT_FALSE(refused);
    EXPECT_FALSE(refused.error().remedy.empty());
    return refused.error().message.substr(0, refused.error().message.find(':'));
  };
  EXPECT_EQ(message([](SelectionText& text) { text.latency = "5"; }), "--latency");
  EXPECT_EQ(message([](SelectionText& text) { text.tids = {"7", "x"}; }), "--tid");
  EXPECT_EQ(message([](SelectionText& text) { text.not_callers = {"@a.c:1"}; }), "--not-caller");
  EXPECT_EQ(message([](SelectionText& text) { text.waited = {"bored"}; }), "--waited");
  EXPECT_EQ(message([](SelectionText& text) { text.ancestors.assign(9, "f"); }), "--ancestor");
}

// Reads the options as the command line does.
SelectionText text_of(const std::vector<std::string>& options) {
  SelectionText text;
  const std::map<std::string, std::string*> one = {
      {"--time", &text.time}, {"--latency", &text.latency}, {"--state", &text.states}};
  const std::map<std::string, std::vector<std::string>*> several = {
      {"--tid", &text.tids},           {"--not-tid", &text.not_tids},
      {"--caller", &text.callers},     {"--not-caller", &text.not_callers},
      {"--ancestor", &text.ancestors}, {"--calls", &text.calls},
      {"--waited", &text.waited}};
  for (std::size_t at = 0; at < options.size(); ++at) {
    const std::string& option = options[at];
    if (option == "--complement") {
      text.complement = true;
    } else if (one.contains(option)) {
      EXPECT_TRUE(one.at(option)->empty()) << option;
      *one.at(option) = options.at(++at);
    } else {
      several.at(option)->push_back(options.at(++at));
    }
  }
  return text;
}

class Selections {
public:
  explicit Selections(std::uint32_t seed) : random_(seed) {}

  Selection make() {
    Selection selection;
    selection.time = some(interval());
    selection.latency = some(interval());
    each(3, [&] { selection.tids.push_back(tid()); });
    each(3, [&] { selection.not_tids.push_back(tid()); });
    for (const bool negated : {false, true}) {
      each(3, [&] {
        CallerCondition caller{.function = name(), .file = "", .line = 0, .negated = negated};
        if (upto(1) == 0) {
          caller.file = pick(files);
          caller.line = upto(1) == 0 ? 0 : static_cast<std::uint32_t>(upto(UINT32_MAX));
        }
        selection.callers.push_back(caller);
      });
    }
    each(3,
         [&] { selection.ancestors.push_back({.function = name(), .latency = some(interval())}); });
    each(3, [&] { selection.calls.push_back({.function = name(), .count = interval()}); });
    each(3, [&] {
      const std::uint64_t reason = upto(waits::reasons);
      selection.waited.push_back({.reason = reason == waits::reasons
                                                ? blocked
                                                : AskedReason(static_cast<waits::Reason>(reason)),
                                  .least = number()});
    });
    for (const CallState state : stacks::every_state) {
      if (upto(2) == 0) {
        selection.states.add(state);
      }
    }
    selection.complement = upto(1) == 0;
    return selection;
  }

private:
  static inline const std::vector<std::string> names = {
      "f",
      "ns::C::f",
      "ns::f<int, char>(int, char)",
      "C::operator,(int, int)",
      "operator<<(A, B)",
      "main::{lambda(int, int)#1}::operator()(int, int) const",
      "<Order as Display<A, B>>::fmt",
      "main.(*Cart).Add",
      "main.f[go.shape.int,go.shape.string]"};
  static inline const std::vector<std::string> files = {
      "a.cpp", "/home/me/src/a b.cpp", "node/@scope/a.c", "a:12", "0x12/a.c", "C:/a.c"};

  std::uint64_t upto(std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random_);
  }
  const std::string& pick(const std::vector<std::string>& from) {
    return from[upto(from.size() - 1)];
  }
  template <class Use>
  void each(std::uint64_t most, const Use& use) {
    for (std::uint64_t left = upto(most); left > 0; --left) {
      use();
    }
  }
  template <class Value>
  Value some(Value value) {
    return upto(1) == 0 ? value : Value{};
  }
  std::int32_t tid() { return static_cast<std::int32_t>(1 + upto(INT32_MAX - 1)); }
  std::string name() {
    const std::string& name = pick(names);
    return upto(2) == 0 ? fmt::format("{}@{:#x}", name, upto(UINT64_MAX)) : name;
  }
  std::uint64_t number() { return upto(UINT64_MAX) >> upto(63); }
  Interval interval() {
    Interval interval{.low = number(), .high = upto(3) == 0 ? UINT64_MAX : number()};
    if (interval.low > interval.high) {
      std::swap(interval.low, interval.high);
    }
    return interval;
  }

  std::mt19937_64 random_;
};

TEST(SelectionOptions, ParsedAgainTheyAreTheSameSelection) {
  Selections selections(3);
  for (int round = 0; round < 5'000; ++round) {
    const Selection selection = selections.make();
    const std::vector<std::string> options = selection_options(selection);
    const auto again = parse_selection(text_of(options));
    ASSERT_TRUE(again) << again.error().one_line();
    ASSERT_EQ(*again, selection) << fmt::format("{}", fmt::join(options, " "));
  }
}

TEST(SelectionOptions, AreWrittenAsAPersonWould) {
  Selection selection;
  selection.latency = {.low = 3'500'000, .high = UINT64_MAX};
  selection.time = {.low = 0, .high = 1'250'000'000};
  selection.callers = {{.function = "accept", .file = "order.cpp", .line = 12}};
  selection.calls = {{.function = "lookup", .count = {.low = 9}}};
  EXPECT_EQ(selection_options(selection),
            (std::vector<std::string>{"--time", ",1.25s", "--latency", "3.5ms,", "--caller",
                                      "accept@order.cpp:12", "--calls", "lookup,9"}));
  EXPECT_TRUE(selection_options({}).empty());
}

// What is accepted reads back as itself; what is not ends in one short line; nothing crashes.
TEST(ParseSelection, SurvivesAnyText) {
  std::mt19937_64 random(11);
  const std::vector<std::string> pieces = {"0",
                                           "9",
                                           "18446744073709551615",
                                           ".",
                                           ",",
                                           "ns",
                                           "us",
                                           "ms",
                                           "s",
                                           "\u00b5",
                                           "-",
                                           " ",
                                           "e",
                                           "(",
                                           ")",
                                           "<",
                                           ">",
                                           "{",
                                           "operator",
                                           "::",
                                           "g",
                                           "\n",
                                           std::string(1, '\0'),
                                           "\xff",
                                           "@0x",
                                           "@",
                                           ":"};
  std::size_t accepted = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text;
    constexpr std::size_t numeric = 10; // of the pieces; every other text is of these alone
    const std::size_t choice = round % 2 == 0 ? pieces.size() : numeric;
    for (std::uint64_t left = random() % 9; left > 0; --left) {
      text += pieces[random() % choice];
    }
    const Result<Interval> interval = parse_interval(text);
    if (interval) {
      ++accepted;
      EXPECT_LE(interval->low, interval->high);
      if (interval->has_bounds()) {
        const Result<Interval> again = parse_interval(interval_text(*interval));
        ASSERT_TRUE(again) << text;
        EXPECT_EQ(*again, *interval);
      }
    } else {
      EXPECT_EQ(interval.error().one_line().find('\n'), std::string::npos);
    }
    if (const auto ancestor = parse_ancestor(text)) {
      EXPECT_TRUE(text.starts_with(ancestor->function));
      EXPECT_FALSE(ancestor->function.empty());
    }
    if (const auto caller = parse_caller(text)) {
      EXPECT_TRUE(text.starts_with(caller->function));
      EXPECT_FALSE(caller->function.empty());
    }
  }
  EXPECT_GT(accepted, 100U); // the pieces do make intervals
  EXPECT_LT(parse_interval(std::string(1'000'000, '1')).error().one_line().size(), 500U);
  EXPECT_TRUE(parse_ancestor(std::string(1'000'000, '(')));
  EXPECT_TRUE(parse_caller(std::string(1'000'000, '<')));
}

} // namespace
} // namespace ptlens::measure
