// Attaching to a running process, perf's control files, and that the process is left as it was.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim::testing {
namespace {

constexpr const char* ticking_program = R"(
#include <unistd.h>
extern "C" __attribute__((noipa)) int tick(int n) { usleep(2000); return n + 1; }
int main() { volatile int n = 0; for (;;) n = tick(n); }
)";

struct Child {
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  Child(Child&&) = delete;
  Child& operator=(Child&&) = delete;
  ~Child() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  pid_t pid = -1;
};

pid_t start(const std::vector<std::string>& arguments) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    execv(pointers.front(), pointers.data());
    _exit(127);
  }
  return pid;
}

std::string status_field(pid_t pid, const std::string& field) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field + ":")) {
      return line;
    }
  }
  return {};
}

class Attach : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
    compile(ticking_program, folder_ / "ticking");
    target_.pid = start({folder_ / "ticking"});
    ASSERT_EQ(pipe(commands_.data()), 0);
    ASSERT_EQ(pipe(acknowledgements_.data()), 0);
  }
  void TearDown() override {
    for (const int file :
         {commands_[0], commands_[1], acknowledgements_[0], acknowledgements_[1]}) {
      close(file);
    }
  }

  void begin(const std::vector<std::string>& options) {
    std::vector<std::string> arguments{
        PTSIM,
        "record",
        "-e",
        "intel_pt/cyc/u",
        "--branches",
        "--switch-events",
        "-o",
        recording_.file,
        "-p",
        std::to_string(target_.pid),
        "--control",
        "fd:" + std::to_string(commands_[0]) + "," + std::to_string(acknowledgements_[1])};
    arguments.insert(arguments.end(), options.begin(), options.end());
    ptsim_.pid = start(arguments);
  }

  void command(const std::string& word) {
    const std::string line = word + "\n";
    ASSERT_EQ(write(commands_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    std::array<char, 5> answer{};
    std::size_t got = 0;
    while (got < answer.size()) {
      const ssize_t size = read(acknowledgements_[0], answer.data() + got, answer.size() - got);
      ASSERT_GT(size, 0);
      got += static_cast<std::size_t>(size);
    }
    EXPECT_EQ(std::string(answer.data()), "ack\n");
  }

  // Waits until ptsim has written something about calls of tick to the truth.
  void wait_for_trace() {
    for (int look = 0; look < 2000; ++look) {
      if (std::filesystem::exists(recording_.file) &&
          std::filesystem::file_size(recording_.file) > 0 &&
          status_field(target_.pid, "TracerPid").find(std::to_string(ptsim_.pid)) !=
              std::string::npos) {
        return;
      }
      usleep(10'000);
    }
    FAIL() << "ptsim did not begin";
  }

  int finished() {
    int status = 0;
    waitpid(ptsim_.pid, &status, 0);
    ptsim_.pid = -1;
    return status;
  }

  TemporaryFolder folder_;
  Child target_;
  Child ptsim_;
  std::array<int, 2> commands_{};
  std::array<int, 2> acknowledgements_{};
  Recording recording_{folder_ / "perf.data", {}};
};

TEST_F(Attach, TracesUntilToldToStopAndLeavesTheProcessAlone) {
  const std::string cpus = status_field(target_.pid, "Cpus_allowed");
  begin({"--max-steps", "4000"});
  EXPECT_EQ(finished(), 0);
  EXPECT_EQ(recording_.errors(), "");
  const auto decoded = recording_.decoded("b");
  const auto stepped = recording_.stepped();
  ASSERT_EQ(decoded.size(), stepped.size());
  for (std::size_t index = 0; index < decoded.size(); ++index) {
    ASSERT_TRUE(decoded[index].same_transfer(stepped[index])) << index;
  }
  EXPECT_GT(recording_.count("tick", "complete"), 10U);
  EXPECT_EQ(kill(target_.pid, 0), 0);
  EXPECT_EQ(status_field(target_.pid, "Cpus_allowed"), cpus);
  EXPECT_EQ(status_field(target_.pid, "TracerPid"), "TracerPid:\t0");
}

TEST_F(Attach, ControlCommandsStartAndStop) {
  begin({"-D", "-1"});
  command("ping");
  EXPECT_EQ(status_field(target_.pid, "TracerPid"), "TracerPid:\t0"); // not yet
  command("enable");
  wait_for_trace();
  command("disable");
  command("enable");
  wait_for_trace();
  command("stop");
  EXPECT_EQ(finished(), 0);
  EXPECT_EQ(recording_.errors(), "");
  const auto decoded = recording_.decoded("b");
  const auto stepped = recording_.stepped();
  ASSERT_EQ(decoded.size(), stepped.size());
  for (std::size_t index = 0; index < decoded.size(); ++index) {
    ASSERT_TRUE(decoded[index].same_transfer(stepped[index])) << index;
  }
  EXPECT_EQ(kill(target_.pid, 0), 0);
}

TEST_F(Attach, InterruptEndsTheRecordingWell) {
  begin({});
  wait_for_trace();
  kill(ptsim_.pid, SIGINT);
  EXPECT_EQ(finished(), 0);
  EXPECT_EQ(recording_.errors(), "");
  EXPECT_EQ(kill(target_.pid, 0), 0);
}

TEST_F(Attach, TheTargetMayDie) {
  begin({});
  wait_for_trace();
  kill(target_.pid, SIGKILL);
  EXPECT_EQ(finished(), 0);
  EXPECT_EQ(recording_.errors(), "");
}

} // namespace
} // namespace ptlens::ptsim::testing
