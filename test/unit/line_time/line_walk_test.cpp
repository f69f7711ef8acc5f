// Branches made up over code whose lines are known: executions and times follow by hand.
#include "line_time/line_times.hpp"
#include "line_time/line_walk.hpp"
#include "stacks/assembled.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ptlens::line_time {
namespace {

using flow::BranchKind;

// f: 16 bytes of each of the lines 10 to 13, with a call of g at 20 and of f itself at 36; g:
// another function, of 64 bytes.
std::shared_ptr<const symbols::Binary> walked_binary() {
  static const std::shared_ptr<const symbols::Binary> binary =
      test::assembled("walked",
                      ".text\n.globl f\n.type f, @function\nf: .skip 20, 0x90\ncall g\n"
                      ".skip 11, 0x90\ncall f\n.skip 23, 0x90\n.size f, 64\n"
                      ".globl g\n.type g, @function\ng: .skip 64, 0x90\n.size g, 64\n",
                      "f");
  return binary;
}

struct Line {
  std::uint64_t executions = 0;
  std::uint64_t at_least = 0;
  std::uint64_t at_most = 0;
  bool operator==(const Line&) const = default;
};

void PrintTo(const Line& line, std::ostream* out) {
  *out << fmt::format("{{{}, {}, {}}}", line.executions, line.at_least, line.at_most);
}

class LineWalkTest : public testing::Test {
protected:
  void SetUp() override {
    binary_ = walked_binary();
    ASSERT_NE(binary_, nullptr);
    f_ = binary_->functions()[binary_->find("f").front()].address;
    g_ = binary_->functions()[binary_->find("g").front()].address;
    std::vector<symbols::CodeLine> code;
    for (std::uint32_t line = 0; line < 4; ++line) {
      code.push_back({.low = f_ + 16 * line, .high = f_ + 16 * (line + 1), .line = 10 + line});
    }
    lines_ = std::make_unique<TimedLines>(
        std::vector<TimedCode>{{.binary = binary_.get(), .lines = code, .entries = {f_}}});
    space_.serial = 1;
    const symbols::Segment& segment = binary_->code_segments().front();
    space_.code.push_back({.start = segment.address + bias,
                           .end = segment.address + segment.file_size + bias,
                           .file_offset = segment.file_offset,
                           .bias = bias,
                           .path = "/walked",
                           .binary = binary_});
    begin();
  }

  void begin(std::span<const perfdata::Switch> switches = {}) {
    context_switches_ = std::make_unique<perfdata::ContextSwitches>(switches);
    walk_ = std::make_unique<LineWalk>(*lines_, *context_switches_, 1);
  }

  void add(std::uint64_t time, BranchKind kind, std::uint64_t from, std::uint64_t to,
           std::uint8_t size = 2, std::uint32_t spread = 0) {
    walk_->add({.time_ns = time,
                .from = from == 0 ? 0 : from + bias,
                .to = to == 0 ? 0 : to + bias,
                .uncertainty_ns = spread,
                .kind = kind,
                .from_size = size},
               space_);
  }
  void enter(std::uint64_t time) { add(time, BranchKind::call, g_ + 8, f_, 5); }
  void call_g(std::uint64_t time) { add(time, BranchKind::call, f_ + 20, g_, 5); }
  void back_from_g(std::uint64_t time) { add(time, BranchKind::ret, g_ + 60, f_ + 25, 1); }
  void leave(std::uint64_t time) { add(time, BranchKind::ret, f_ + 63, g_ + 13, 1); }

  line_time::LineTimes finish() {
    walk_->finish(false);
    return line_time::line_times(*lines_, true);
  }
  static std::map<std::uint32_t, Line> rows(const line_time::LineTimes& times) {
    std::map<std::uint32_t, Line> rows;
    for (const line_time::LineTime& line : times.lines) {
      rows[line.line] = {line.executions, line.at_least, line.at_most};
    }
    return rows;
  }

  static constexpr std::uint64_t bias = 0x10000;
  std::shared_ptr<const symbols::Binary> binary_;
  std::uint64_t f_ = 0;
  std::uint64_t g_ = 0;
  symbols::AddressSpaceVersion space_;
  std::unique_ptr<TimedLines> lines_;
  std::unique_ptr<perfdata::ContextSwitches> context_switches_;
  std::unique_ptr<LineWalk> walk_;
};

using Rows = std::map<std::uint32_t, Line>;

TEST_F(LineWalkTest, ACalleeInTheMiddleOfALineIsNeitherItsTimeNorASecondExecution) {
  enter(100);
  call_g(130); // lines 10 and 11
  back_from_g(190);
  leave(220); // 11, 12 and 13
  const auto times = finish();
  EXPECT_EQ(rows(times),
            (Rows{{10, {1, 0, 30}}, {11, {1, 0, 60}}, {12, {1, 0, 30}}, {13, {1, 0, 30}}}));
  ASSERT_EQ(times.blocks.size(), 2);
  EXPECT_EQ(times.blocks[0].lines, (std::vector<std::uint32_t>{10, 11}));
  EXPECT_EQ(times.blocks[1].lines, (std::vector<std::uint32_t>{11, 12, 13}));
  EXPECT_EQ(times.find(10)->shared_with, (std::vector<std::uint32_t>{11}));
  EXPECT_EQ(times.find(11)->shared_with, (std::vector<std::uint32_t>{10, 12, 13}));
  EXPECT_FALSE(times.find(10)->is_known());
}

TEST_F(LineWalkTest, ALoopCountsEveryIteration) {
  enter(100);
  add(120, BranchKind::jump, f_ + 14, f_ + 16); // line 10, onward to 11
  for (std::uint64_t turn = 1; turn <= 5; ++turn) {
    add(120 + 10 * turn, BranchKind::cond, f_ + 30, f_ + 16); // line 11 alone
  }
  add(175, BranchKind::cond, f_ + 30, f_ + 48);
  leave(200);
  EXPECT_EQ(rows(finish()), (Rows{{10, {1, 20, 20}}, {11, {6, 55, 55}}, {13, {1, 25, 25}}}));
}

TEST_F(LineWalkTest, AForwardJumpInsideALineIsTheSameExecution) {
  enter(100);
  add(110, BranchKind::cond, f_ + 4, f_ + 10);
  add(120, BranchKind::jump, f_ + 12, f_ + 48);
  leave(150);
  EXPECT_EQ(rows(finish()), (Rows{{10, {1, 20, 20}}, {13, {1, 30, 30}}}));
}

TEST_F(LineWalkTest, RecursionCountsEachActivation) {
  enter(100);
  add(110, BranchKind::jump, f_ + 2, f_ + 32);
  add(130, BranchKind::call, f_ + 36, f_, 5);
  add(135, BranchKind::jump, f_ + 2, f_ + 48);
  add(145, BranchKind::ret, f_ + 63, f_ + 41, 1);
  add(150, BranchKind::jump, f_ + 44, f_ + 48);
  leave(158);
  EXPECT_EQ(rows(finish()), (Rows{{10, {2, 15, 15}}, {12, {1, 25, 25}}, {13, {2, 18, 18}}}));
}

TEST_F(LineWalkTest, TimeInTheKernelIsNotTimeOfALine) {
  enter(100);
  add(110, BranchKind::syscall, f_ + 4, 0);
  add(500, BranchKind::on, 0, f_ + 6, 0);
  add(510, BranchKind::interrupt, f_ + 16, 0, 0); // before the first instruction of line 11
  add(900, BranchKind::on, 0, f_ + 16, 0);
  add(907, BranchKind::interrupt, f_ + 18, 0, 0);
  add(950, BranchKind::on, 0, f_ + 18, 0);
  add(960, BranchKind::jump, f_ + 28, f_ + 48);
  leave(970);
  EXPECT_EQ(rows(finish()), (Rows{{10, {1, 20, 20}}, {11, {1, 17, 17}}, {13, {1, 10, 10}}}));
}

TEST_F(LineWalkTest, ASignalIsNotANewExecution) {
  enter(100);
  add(110, BranchKind::interrupt, f_ + 4, 0, 0);
  add(120, BranchKind::on, 0, g_, 0); // the handler
  add(150, BranchKind::syscall, g_ + 30, 0);
  add(160, BranchKind::on, 0, f_ + 4, 0);
  add(165, BranchKind::jump, f_ + 12, f_ + 48);
  leave(170);
  EXPECT_EQ(rows(finish()), (Rows{{10, {1, 15, 15}}, {13, {1, 5, 5}}}));
}

TEST_F(LineWalkTest, OffCpuTimeInsideIsLeftOut) {
  std::vector<perfdata::Switch> switches(2);
  switches[0].time_ns = 120;
  switches[0].tid = 1;
  switches[0].out = true;
  switches[1].time_ns = 150;
  switches[1].tid = 1;
  begin(switches);
  enter(100);
  add(160, BranchKind::jump, f_ + 14, f_ + 48);
  leave(165);
  EXPECT_EQ(rows(finish()), (Rows{{10, {1, 30, 30}}, {13, {1, 5, 5}}}));
}

TEST_F(LineWalkTest, InterruptedStretchesAreNeitherTimedNorCounted) {
  enter(100);
  add(110, BranchKind::jump, f_ + 14, f_ + 32);
  add(130, BranchKind::gap, f_ + 36, 0, 0);
  add(300, BranchKind::on, 0, f_ + 48, 0);
  leave(310); // line 13, which began unseen
  const auto times = finish();
  EXPECT_EQ(times.cut, 1);
  EXPECT_EQ(rows(times), (Rows{{10, {1, 10, 10}}, {13, {0, 10, 10}}}));
}

TEST_F(LineWalkTest, BranchesOfOneIntervalShareItsTime) {
  enter(100);
  add(130, BranchKind::jump, f_ + 14, f_ + 32, 2, 10); // within 120 and 140
  add(130, BranchKind::jump, f_ + 46, f_ + 48, 2, 10);
  leave(200);
  const auto times = finish();
  EXPECT_EQ(rows(times), (Rows{{10, {1, 20, 40}}, {12, {1, 0, 20}}, {13, {1, 60, 80}}}));
  EXPECT_TRUE(times.find(10)->is_known());
  EXPECT_DOUBLE_EQ(times.find(10)->time(), 30);
  EXPECT_DOUBLE_EQ(times.find(10)->uncertainty(), 10);
  EXPECT_FALSE(times.find(12)->is_known());
  EXPECT_EQ(times.find(12)->shared_with, (std::vector<std::uint32_t>{10, 13}));
}

TEST_F(LineWalkTest, WithoutTimingOnlyExecutionsAreKnown) {
  enter(0);
  call_g(0);
  back_from_g(0);
  leave(0);
  const auto times = finish();
  EXPECT_EQ(rows(times),
            (Rows{{10, {1, 0, 0}}, {11, {1, 0, 0}}, {12, {1, 0, 0}}, {13, {1, 0, 0}}}));
  EXPECT_FALSE(times.find(10)->is_known());
}

} // namespace
} // namespace ptlens::line_time
