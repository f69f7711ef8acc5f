// A traced kernel: threads that are switched out in it, and signals that it delivers. The expected
// calls are computed by hand.
#include "branch_tape.hpp"

#include <gtest/gtest.h>

namespace ptlens::stacks::testing {
namespace {

using flow::BranchKind;
using Lines = std::vector<std::string>;

class KernelRows : public ::testing::Test {
protected:
  void SetUp() override {
    if (!test::has_command("gcc") || !tape_binary()) {
      GTEST_SKIP() << "gcc is not installed";
    }
  }
};

// a's system call enters the kernel at d, which calls the scheduler, e. That calls b, in which perf
// switches tracing off; once the thread is back, c, in which perf switches it on again.
TEST_F(KernelRows, AThreadThatIsSwitchedOutInTheKernelGoesOnInItsCalls) {
  const std::vector<perfdata::Switch> switches = {
      {.time_ns = 1045, .pid = 1, .tid = 1, .cpu = 0, .out = true},
      {.time_ns = 9065, .pid = 1, .tid = 1, .cpu = 0, .out = false}};
  Tape tape(switches);
  const auto kernel = [&](const char* name, std::uint64_t offset = 0) {
    return tape.in_kernel(name, offset);
  };
  tape.on("main", 0);                                              // 1000
  tape.call("main", 8, "a");                                       // 1010
  tape.any(BranchKind::syscall, tape.at("a", 20), kernel("d"), 2); // 1020
  tape.any(BranchKind::call, kernel("d", 8), kernel("e"), 5);      // 1030
  tape.any(BranchKind::call, kernel("e", 8), kernel("b"), 5);      // 1040
  tape.any(BranchKind::off, kernel("b", 30), 0, 0);                // 1050
  tape.now = 9060;
  tape.any(BranchKind::on, 0, kernel("c", 30), 0);                     // 9060
  tape.any(BranchKind::ret, kernel("c", 60), kernel("e", 33), 1);      // 9070
  tape.any(BranchKind::ret, kernel("e", 60), kernel("d", 13), 1);      // 9080
  tape.any(BranchKind::syscall, kernel("d", 60), tape.at("a", 22), 2); // 9090
  tape.ret("a", "main", 13);                                           // 9100
  tape.finish();
  EXPECT_EQ(tape.calls(), (Lines{"main in -: incomplete 1000+8100", "a in main: complete 1010+8090",
                                 "d in a: complete 1020+8070", "e in d: complete 1030+8050",
                                 "b in e: incomplete 1040+10", "c in e: incomplete 9060+10"}));
  const CallTable& table = tape.table();
  for (const std::size_t call : {1, 2, 3}) {
    EXPECT_EQ(table.off_cpu(call), 9065U - 1045U) << tape.name(call);
  }
  EXPECT_EQ(tape.self(), 8100U);
  EXPECT_TRUE(tape.builder().gaps().empty());
}

// No record shows that the thread was switched out: tracing was off by command, and what ran
// meanwhile is not known.
TEST_F(KernelRows, AThreadThatRanUntracedMayBeInAnotherCall) {
  Tape tape;
  tape.on("main", 0);
  tape.call("main", 8, "a");
  tape.any(BranchKind::interrupt, tape.at("a", 20), tape.in_kernel("d"), 0);
  tape.any(BranchKind::call, tape.in_kernel("d", 8), tape.in_kernel("b"), 5);
  tape.any(BranchKind::off, tape.in_kernel("b", 30), 0, 0);
  tape.now = 9060;
  tape.any(BranchKind::on, 0, tape.in_kernel("c", 30), 0);
  tape.any(BranchKind::ret, tape.in_kernel("c", 60), tape.in_kernel("d", 33), 1);
  tape.any(BranchKind::interrupt, tape.in_kernel("d", 60), tape.at("a", 20), 2);
  tape.ret("a", "main", 13);
  tape.finish();
  const CallTable& table = tape.table();
  for (std::size_t call = 0; call < table.size(); ++call) {
    EXPECT_EQ(table.state[call], CallState::incomplete) << tape.calls()[call];
  }
}

// An interrupt of a enters the kernel at d, which calls e and leaves for the handler. The handler
// returns to code that makes the kernel, d again, go on in a at the interrupted instruction.
TEST_F(KernelRows, AHandlerOfASignalFromATracedKernelIsAboveTheInterruptedCall) {
  Tape tape;
  const std::uint64_t restorer = 0x7000'0000;
  const auto kernel = [&](const char* name, std::uint64_t offset = 0) {
    return tape.in_kernel(name, offset);
  };
  tape.on("main", 0);                                                      // 1000
  tape.call("main", 8, "a");                                               // 1010
  tape.any(BranchKind::interrupt, tape.at("a", 20), kernel("d"), 0);       // 1020
  tape.any(BranchKind::call, kernel("d", 8), kernel("e"), 5);              // 1030
  tape.any(BranchKind::ret, kernel("e", 60), kernel("d", 13), 1);          // 1040
  tape.any(BranchKind::interrupt, kernel("d", 60), tape.at("handler"), 2); // 1050
  tape.call("handler", 8, "b");                                            // 1060
  tape.ret("b", "handler", 13);                                            // 1070
  tape.any(BranchKind::ret, tape.at("handler", 60), restorer, 1);          // 1080
  tape.any(BranchKind::syscall, restorer + 7, kernel("d"), 2);             // 1090
  tape.any(BranchKind::syscall, kernel("d", 60), tape.at("a", 20), 2);     // 1100
  tape.ret("a", "main", 13);                                               // 1110
  tape.finish();
  EXPECT_EQ(tape.calls(),
            (Lines{"main in -: incomplete 1000+110", "a in main: complete 1010+100",
                   "d in a: complete 1020+30", "e in d: complete 1030+10",
                   "[signal] in a: complete 1050+50", "handler in [signal]: complete 1050+30",
                   "b in handler: complete 1060+10", "d in [signal]: complete 1090+10"}));
  EXPECT_EQ(tape.self(), 110U);
}

// A signal ends a's system call early.
TEST_F(KernelRows, ASignalThatEndsASystemCallGoesOnBehindIt) {
  Tape tape;
  const std::uint64_t restorer = 0x7000'0000;
  tape.on("main", 0);                                                            // 1000
  tape.call("main", 8, "a");                                                     // 1010
  tape.any(BranchKind::syscall, tape.at("a", 20), tape.in_kernel("d"), 2);       // 1020
  tape.any(BranchKind::syscall, tape.in_kernel("d", 60), tape.at("handler"), 2); // 1030
  tape.any(BranchKind::ret, tape.at("handler", 60), restorer, 1);                // 1040
  tape.any(BranchKind::syscall, restorer + 7, tape.in_kernel("d"), 2);           // 1050
  tape.any(BranchKind::syscall, tape.in_kernel("d", 60), tape.at("a", 22), 2);   // 1060
  tape.ret("a", "main", 13);                                                     // 1070
  tape.finish();
  EXPECT_EQ(tape.calls(),
            (Lines{"main in -: incomplete 1000+70", "a in main: complete 1010+60",
                   "d in a: complete 1020+10", "[signal] in a: complete 1030+30",
                   "handler in [signal]: complete 1030+10", "d in [signal]: complete 1050+10"}));
}

} // namespace
} // namespace ptlens::stacks::testing
