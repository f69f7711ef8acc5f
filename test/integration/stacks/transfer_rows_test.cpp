// Single transfers of control that are easily mistaken for something else, branch by branch.
#include "branch_tape.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks::testing {
namespace {

using Lines = std::vector<std::string>;

class TransferRows : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_command("gcc") || !tape_binary()) {
      GTEST_SKIP() << "gcc is not installed";
    }
  }
};

TEST_F(TransferRows, ACallToTheNextInstructionIsNoFrame) {
  Tape tape;
  tape.on("main", 0);                                                     // 1000
  tape.call("main", 8, "a");                                              // 1010
  tape.any(flow::BranchKind::call, tape.at("a", 8), tape.at("a", 13), 5); // 1020
  tape.call("a", 16, "b");                                                // 1030
  tape.any(flow::BranchKind::call, tape.at("b", 8), tape.at("b", 13), 5); // 1040
  tape.ret("b", "a", 21);                                                 // 1050
  tape.ret("a", "main", 13);                                              // 1060
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+60", "a in main: complete 1010+50",
                                 "b in a: complete 1030+20"}));
}

TEST_F(TransferRows, ARetToAFunctionsEntryIsACall) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.ret("a", "b", 0);     // 1020: a had pushed its address
  tape.ret("b", "main", 13); // 1030
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+30", "a in main: complete 1010+20",
                                 "b in a: complete 1020+10"}));
  EXPECT_EQ(tape.table().tail_call, (std::vector<std::uint8_t>{0, 0, 1}));
}

TEST_F(TransferRows, ATailCallKeepsItsCallerOpen) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.jump("a", "b");       // 1020
  tape.call("b", 8, "c");    // 1030
  tape.ret("c", "b", 13);    // 1040
  tape.jump("b", "d");       // 1050
  tape.ret("d", "main", 13); // 1060
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+60", "a in main: complete 1010+50",
                                 "b in a: complete 1020+40", "c in b: complete 1030+10",
                                 "d in b: complete 1050+10"}));
}

TEST_F(TransferRows, APageFaultDoesNotEndTheCall) {
  Tape tape;
  tape.on("main", 0);                                           // 1000
  tape.call("main", 8, "a");                                    // 1010
  tape.any(flow::BranchKind::interrupt, tape.at("a", 8), 0, 0); // 1020
  tape.now = 5000;
  tape.on("a", 8);           // the same instruction again
  tape.ret("a", "main", 13); // 5010
  tape.finish();
  EXPECT_EQ(tape.calls(),
            (Lines{"main in -: incomplete 1000+4010", "a in main: complete 1010+4000"}));
  EXPECT_EQ(tape.table().outside, (std::vector<std::uint64_t>{3980, 3980}));
  EXPECT_EQ(tape.self(), 4010U);
}

TEST_F(TransferRows, ASystemCallDoesNotEndTheCall) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.syscall("a", 8);      // 1020
  tape.now = 3000;
  tape.on("a", 10);          // behind it
  tape.ret("a", "main", 13); // 3010
  tape.finish();
  EXPECT_EQ(tape.calls(),
            (Lines{"main in -: incomplete 1000+2010", "a in main: complete 1010+2000"}));
  EXPECT_EQ(tape.table().outside, (std::vector<std::uint64_t>{1980, 1980}));
}

TEST_F(TransferRows, ASignalIsNobodysSelfTime) {
  Tape tape;
  tape.on("main", 0);                                           // 1000
  tape.call("main", 8, "a");                                    // 1010
  tape.any(flow::BranchKind::interrupt, tape.at("a", 8), 0, 0); // 1020
  tape.now = 1500;
  tape.on("handler", 0); // 1500
  constexpr std::uint64_t restorer = 0x1000;
  tape.any(flow::BranchKind::ret, tape.at("handler", 60), restorer, 1); // 1510
  tape.any(flow::BranchKind::syscall, restorer, 0, 2);                  // 1520
  tape.now = 2000;
  tape.on("a", 8);           // 2000
  tape.ret("a", "main", 13); // 2010
  tape.finish();
  EXPECT_EQ(tape.calls(),
            (Lines{"main in -: incomplete 1000+1010", "a in main: complete 1010+1000",
                   "[signal] in a: complete 1020+980", "handler in [signal]: complete 1500+10"}));
  EXPECT_EQ(tape.table().self(1), 20U);
  EXPECT_EQ(tape.self(), 1010U);
}

TEST_F(TransferRows, AMigrationKeepsTheCalls) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.call("a", 8, "b");    // 1020
  tape.off("b", 16);         // 1030
  tape.now = 90'000;
  tape.on("b", 16);          // on another processor
  tape.ret("b", "a", 13);    // 90010
  tape.ret("a", "main", 13); // 90020
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+89020",
                                 "a in main: complete 1010+89010", "b in a: complete 1020+88990"}));
  EXPECT_TRUE(tape.builder().gaps().empty());
}

TEST_F(TransferRows, AStartThatWasNotTracedIsNotDatedBack) {
  Tape tape;
  tape.on("b", 16);           // 1000
  tape.call("b", 24, "c");    // 1010
  tape.ret("c", "b", 29);     // 1020
  tape.ret("b", "a", 13);     // 1030
  tape.ret("a", "main", 13);  // 1040
  tape.call("main", 16, "a"); // 1050
  tape.ret("a", "main", 21);  // 1060
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+60", "a in main: incomplete 1000+40",
                                 "b in a: incomplete 1000+30", "c in b: complete 1010+10",
                                 "a in main: complete 1050+10"}));
}

TEST_F(TransferRows, SixSecondsAreNoNumberOf32Bits) {
  Tape tape;
  tape.on("main", 0);
  tape.call("main", 8, "a"); // 1010
  tape.syscall("a", 8);
  tape.now = 6'000'001'010;
  tape.on("a", 10);
  tape.now = 6'000'001'010;
  tape.ret("a", "main", 13);
  tape.finish();
  EXPECT_EQ(tape.calls().back(), "a in main: complete 1010+6000000000");
}

TEST_F(TransferRows, ActivationsOfMutualRecursionAreInnerOnes) {
  Tape tape;
  tape.on("main", 0);        // 1000
  tape.call("main", 8, "a"); // 1010
  tape.call("a", 8, "b");    // 1020
  tape.call("b", 8, "a");    // 1030
  tape.call("a", 8, "b");    // 1040
  tape.ret("b", "a", 13);    // 1050
  tape.ret("a", "b", 13);    // 1060
  tape.ret("b", "a", 13);    // 1070
  tape.ret("a", "main", 13); // 1080
  tape.finish();
  EXPECT_EQ(tape.table().inner, (std::vector<std::uint8_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(tape.table().latency, (std::vector<std::uint64_t>{80, 70, 50, 30, 10}));
}

} // namespace
} // namespace ptlens::stacks::testing
