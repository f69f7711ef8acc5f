// The same truth under other settings: without cycle packets, without return compression, a buffer
// for each CPU, small buffers, signals on a stack of their own, children, another program by
// execve.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptlens::ptsim::testing {
namespace {

class Variants : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
  }

  TemporaryFolder folder_;
};

// 40 rounds of an inner loop whose branches no packet can leave out; 40 calls.
constexpr const char* loops_program = R"(
extern "C" __attribute__((noipa)) unsigned round(unsigned seed) {
  for (int i = 0; i < 30; ++i) { if (seed & 1) seed = seed * 5 + 3; else seed = seed / 2 + 7; }
  return seed;
}
int main() {
  unsigned value = 1;
  for (int i = 0; i < 40; ++i) value += round(value);
  return value % 2;
}
)";

TEST_F(Variants, PerCpuBuffersInSmallPiecesWithoutCycles) {
  compile(loops_program, folder_ / "loops");
  const Recording recording = record(folder_ / "perf.data", "intel_pt/mtc_period=3,psb_period=0/u",
                                     {"-m", ",1", "--start-at", "main"}, {folder_ / "loops"});
  expect_branches_equal(recording);
  EXPECT_EQ(recording.count("round", "complete"), 40U);
  const std::string dump = recording.dump();
  EXPECT_EQ(dump.find(" CYC 0x"), std::string::npos);
  EXPECT_NE(dump.find(" MTC 0x"), std::string::npos);
  EXPECT_NE(dump.find("SWITCH_CPU_WIDE IN"), std::string::npos);
}

TEST_F(Variants, WithoutReturnCompressionEachReturnIsATip) {
  compile(loops_program, folder_ / "loops");
  const auto tips = [&](const std::string& event) {
    const Recording recording =
        record(folder_ / "perf.data", event, {"--start-at", "main"}, {folder_ / "loops"});
    expect_branches_equal(recording);
    return static_cast<int>(count_of(recording.dump(), " TIP 0x"));
  };
  const auto compressed = tips("intel_pt/noretcomp=0/u");
  const auto plain = tips("intel_pt/noretcomp=1/u");
  EXPECT_GE(plain - compressed, 40);
}

TEST_F(Variants, OtherTimingPackets) {
  compile(loops_program, folder_ / "loops");
  const auto dump_of = [&](const std::string& event) {
    const Recording recording =
        record(folder_ / "perf.data", event, {"--start-at", "main"}, {folder_ / "loops"});
    expect_branches_equal(recording);
    return recording.dump();
  };
  const std::string rare = dump_of("intel_pt/cyc,mtc_period=6,psb_period=1/u");
  const std::string often = dump_of("intel_pt/cyc,mtc_period=0,psb_period=0/u");
  EXPECT_GT(count_of(often, " MTC 0x"), 30 * count_of(rare, " MTC 0x"));
}

TEST_F(Variants, WithoutTime) {
  compile(loops_program, folder_ / "loops");
  const Recording recording = record(folder_ / "perf.data", "intel_pt/tsc=0,mtc=0/u",
                                     {"--per-thread", "--start-at", "main"}, {folder_ / "loops"});
  EXPECT_EQ(recording.errors(), "");
  const auto decoded = recording.decoded_without_time();
  const auto stepped = recording.stepped();
  EXPECT_TRUE(std::ranges::equal(decoded, stepped, [](const auto& one, const auto& other) {
    return one.same_transfer(other);
  }));
  const std::string dump = recording.dump();
  EXPECT_EQ(count_of(dump, " TSC 0x") + count_of(dump, " MTC 0x"), 0U);
}

TEST_F(Variants, TheLoaderIsTracedOnRequest) {
  compile("int main() { return 0; }", folder_ / "empty");
  const Recording recording =
      record(folder_ / "perf.data", "intel_pt/cyc/u",
             {"--start-at", "exec", "--max-steps", "20000"}, {folder_ / "empty"});
  expect_branches_equal(recording);
  const auto stepped = recording.stepped();
  ASSERT_FALSE(stepped.empty());
  EXPECT_EQ(stepped.front().kind, "on");
}

// A fault and its handler on a stack of its own; the handler leaves by siglongjmp the second time.
TEST_F(Variants, SignalsOnAStackOfTheirOwn) {
  compile(R"(
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
static char* volatile page; static sigjmp_buf back; static volatile int faults = 0;
OWN void mend() { mprotect(page, 4096, PROT_READ | PROT_WRITE); }
OWN void handler(int) { faults = faults + 1; if (faults == 1) mend(); else siglongjmp(back, 1); }
OWN void touch() { page[10] = 1; }
OWN int jump_back() { if (sigsetjmp(back, 1) == 0) touch(); return 1; }
int main() {
  page = (char*)mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t stack{}; stack.ss_sp = malloc(65536); stack.ss_size = 65536; sigaltstack(&stack, nullptr);
  struct sigaction action{}; action.sa_handler = handler; action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  touch();
  mprotect(page, 4096, PROT_READ);
  int back_again = jump_back();
  return faults == 2 && back_again ? 0 : 1;
}
)",
          folder_ / "signals");
  const Recording recording = record(folder_ / "perf.data", "intel_pt/cyc,psb_period=0/u",
                                     {"--start-at", "main"}, {folder_ / "signals"});
  EXPECT_EQ(recording.made.status, 0) << recording.made.err;
  expect_branches_equal(recording);
  EXPECT_EQ(recording.count("touch", "complete"), 1U);
  EXPECT_EQ(recording.count("touch", "unwound"), 1U);
  EXPECT_EQ(recording.count("handler", "complete"), 1U);
  EXPECT_EQ(recording.count("handler", "unwound"), 1U);
  EXPECT_EQ(recording.count("mend", "complete"), 1U);
  EXPECT_EQ(recording.count("jump_back", "complete"), 1U);
}

TEST_F(Variants, ChildrenRunFreeWhereBuffersAreOfThreads) {
  compile(R"(
#include <sys/wait.h>
#include <unistd.h>
extern "C" __attribute__((noipa)) int child() { return 5; }
int main() {
  pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5) return 1;
  return 0;
}
)",
          folder_ / "children");
  const Recording recording =
      record(folder_ / "perf.data", "intel_pt/cyc/u", {"--per-thread", "--start-at", "main"},
             {folder_ / "children"});
  EXPECT_EQ(recording.made.status, 0) << recording.made.err;
  expect_branches_equal(recording);
  EXPECT_EQ(recording.count("child", "complete"), 0U);
  EXPECT_NE(recording.made.err.find("runs untraced"), std::string::npos);
  EXPECT_NE(recording.dump().find("PERF_RECORD_FORK"), std::string::npos);
}

TEST_F(Variants, AnotherProgramByExecve) {
  // Linked statically: the new program is traced from its first instruction, the loader included.
  compile(loops_program, folder_ / "loops", "-static");
  compile("#include <unistd.h>\nint main(int, char** v) { execv(v[1], v + 1); return 9; }",
          folder_ / "exec");
  const Recording recording = record(folder_ / "perf.data", "intel_pt/cyc/u",
                                     {"--start-at", "main"}, {folder_ / "exec", folder_ / "loops"});
  EXPECT_LE(recording.made.status, 1);
  expect_branches_equal(recording);
  EXPECT_EQ(recording.count("round", "complete"), 40U);
}

} // namespace
} // namespace ptlens::ptsim::testing
