// Calls around gaps: the frames stay open, but their calls leave the statistics. The branches after
// a gap show which of the frames had ended.
#include "branch_tape.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks::testing {
namespace {

using Lines = std::vector<std::string>;

class Gaps : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_command("gcc") || !tape_binary()) {
      GTEST_SKIP() << "gcc is not installed";
    }
  }
};

// main calls a ten times; the processor drops the packets between the fifth call and the sixth.
TEST_F(Gaps, AnOverflowMakesNo900MicrosecondCall) {
  Tape tape;
  tape.on("main", 0);
  for (int round = 0; round < 10; ++round) {
    tape.call("main", 8, "a");
    if (round == 4) {
      tape.gap("a");
      tape.now += 900'000;
      tape.on("main", 20);
    } else {
      tape.ret("a", "main", 13);
    }
  }
  tape.finish();
  const CallTable& table = tape.table();
  std::size_t complete = 0;
  for (std::size_t call = 1; call < table.size(); ++call) {
    complete += table.state[call] == CallState::complete ? 1 : 0;
    EXPECT_EQ(table.latency[call], 10U); // the call that was cut: its visible time
  }
  EXPECT_EQ(table.size(), 11U);
  EXPECT_EQ(complete, 9U);
  EXPECT_EQ(tape.builder().gaps().size(), 1U);
  EXPECT_EQ(tape.self(), tape.builder().last_ns() - tape.builder().first_ns());
}

TEST_F(Gaps, FramesStayOpenAndTheirStatisticsAreNotCounted) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.call("a", 8, "b");    // 1020
  tape.gap("b");             // 1030
  tape.on("b", 20);          // 1040
  tape.call("b", 30, "c");   // 1050
  tape.ret("c", "b", 35);    // 1060
  tape.ret("b", "a", 13);    // 1070
  tape.call("a", 16, "b");   // 1080
  tape.ret("b", "a", 21);    // 1090
  tape.ret("a", "main", 13); // 1100
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+100", "a in main: incomplete 1010+90",
                                 "b in a: incomplete 1020+50", "c in b: complete 1050+10",
                                 "b in a: complete 1080+10"}));
  EXPECT_EQ(tape.self(), 100U);
}

// After the gap c runs; it returns to where a was called from: a has ended in the gap.
TEST_F(Gaps, AFrameThatEndedInAGapEndsWhereTheGapBegins) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.call("a", 8, "b");    // 1020
  tape.gap("b");             // 1030
  tape.now = 2000;
  tape.on("c", 20);           // 2000
  tape.call("c", 30, "d");    // 2010
  tape.ret("d", "c", 35);     // 2020
  tape.ret("c", "main", 13);  // 2030
  tape.call("main", 16, "a"); // 2040
  tape.ret("a", "main", 21);  // 2050
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+1050", "a in main: incomplete 1010+20",
                                 "b in a: incomplete 1020+10", "c in main: incomplete 2000+30",
                                 "d in c: complete 2010+10", "a in main: complete 2040+10"}));
  EXPECT_EQ(tape.self(), 1050U);
}

// After the gap c runs and returns to d, whose begin was not seen; d returns to a.
TEST_F(Gaps, ACallerThatBeganInAGapContainsItsCalls) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.gap("a");             // 1020
  tape.on("c", 20);          // 1030
  tape.ret("c", "d", 13);    // 1040
  tape.call("d", 16, "b");   // 1050
  tape.ret("b", "d", 21);    // 1060
  tape.ret("d", "a", 40);    // 1070
  tape.ret("a", "main", 13); // 1080
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+80", "a in main: incomplete 1010+70",
                                 "d in a: incomplete 1030+40", "c in d: incomplete 1030+10",
                                 "b in d: complete 1050+10"}));
  EXPECT_EQ(tape.self(), 80U);
}

// After the gap main runs: all frames above it have ended.
TEST_F(Gaps, TracingThatComesBackFurtherDownEndsTheFramesAbove) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.call("a", 8, "b");    // 1020
  tape.gap("b");             // 1030
  tape.now = 5000;
  tape.on("main", 30);        // 5000
  tape.call("main", 40, "a"); // 5010
  tape.ret("a", "main", 45);  // 5020
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+4020", "a in main: incomplete 1010+20",
                                 "b in a: incomplete 1020+10", "a in main: complete 5010+10"}));
  EXPECT_EQ(tape.self(), 4020U);
}

TEST_F(Gaps, TheEndInAGapKeepsWhatWasSeen) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.gap("a");             // 1020
  tape.finish(true);
  EXPECT_EQ(tape.calls(),
            (Lines{"main in -: incomplete 1000+20", "a in main: incomplete 1010+10"}));
}

// An inner activation is not an outermost one, even where its caller becomes known only when it
// returns there.
TEST_F(Gaps, ACallerKnownLateMakesItsCalleesInnerOnes) {
  Tape tape;
  tape.on("b", 0);         // 1000
  tape.call("b", 8, "a");  // 1010
  tape.ret("a", "b", 13);  // 1020
  tape.ret("b", "a", 13);  // 1030: a had begun before the trace
  tape.call("a", 20, "c"); // 1040
  tape.ret("c", "a", 25);  // 1050
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"a in -: incomplete 1000+50", "b in a: incomplete 1000+30",
                                 "a in b: complete 1010+10", "c in a: complete 1040+10"}));
  EXPECT_EQ(tape.table().inner, (std::vector<std::uint8_t>{0, 0, 1, 0}));
  EXPECT_EQ(tape.self(), 50U);
}

} // namespace
} // namespace ptlens::stacks::testing
