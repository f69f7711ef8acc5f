// Attaching to a running process, perf's control files, and that the process is left as it was.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim::testing {
namespace {

constexpr const char* ticking_program = R"(
#include <unistd.h>
extern "C" __attribute__((noipa)) int tick(int n) { usleep(2000); return n + 1; }
int main() { volatile int n = 0; for (;;) n = tick(n); }
)";

class Attach : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
    compile(ticking_program, folder_ / "ticking");
    target_.start({folder_ / "ticking"});
    target_.await_sleep();
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
    std::vector<std::string> arguments{PTSIM,        "record",
                                       "-e",         "intel_pt/cyc/u",
                                       "--branches", "--switch-events",
                                       "-o",         recording_.file,
                                       "-p",         std::to_string(target_.pid())};
    arguments.insert(arguments.end(), options.begin(), options.end());
    if (std::ranges::find(options, "--control") == options.end()) {
      arguments.insert(arguments.end(), {"--control", "fd:" + std::to_string(commands_[0]) + "," +
                                                          std::to_string(acknowledgements_[1])});
    }
    ptsim_.start(arguments);
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

  [[nodiscard]] bool is_traced() const {
    return target_.status_field("TracerPid") == "TracerPid:\t" + std::to_string(ptsim_.pid());
  }

  // Waits until ptsim has written something about calls of tick to the truth.
  void wait_for_trace() {
    for (int look = 0; look < 2000; ++look) {
      if (std::filesystem::exists(recording_.file) &&
          std::filesystem::file_size(recording_.file) > 0 && is_traced()) {
        return;
      }
      usleep(10'000);
    }
    FAIL() << "ptsim did not begin";
  }

  TemporaryFolder folder_;
  Background target_;
  Background ptsim_;
  std::array<int, 2> commands_{};
  std::array<int, 2> acknowledgements_{};
  Recording recording_{folder_ / "perf.data", {}};
};

TEST_F(Attach, TracesUntilToldToStopAndLeavesTheProcessAlone) {
  const std::string cpus = target_.status_field("Cpus_allowed");
  begin({"--max-steps", "4000"});
  EXPECT_EQ(ptsim_.wait(), 0);
  expect_branches_equal(recording_);
  EXPECT_GT(recording_.count("tick", "complete"), 10U);
  EXPECT_TRUE(target_.lives());
  EXPECT_EQ(target_.status_field("Cpus_allowed"), cpus);
  EXPECT_EQ(target_.status_field("TracerPid"), "TracerPid:\t0");
}

TEST_F(Attach, ControlCommandsStartAndStop) {
  begin({"-D", "-1"});
  command("ping");
  EXPECT_EQ(target_.status_field("TracerPid"), "TracerPid:\t0"); // not yet
  for (int time = 0; time < 2; ++time) {
    command("enable"); // answered when it has been done, as are all
    EXPECT_TRUE(is_traced());
    command("evlist -v");
    command("disable dummy:u");
    command("disable intel_pt/cyc/u");
    EXPECT_FALSE(is_traced());
  }
  command("enable");
  EXPECT_TRUE(is_traced());
  command("stop");
  EXPECT_EQ(ptsim_.wait(), 0);
  expect_branches_equal(recording_);
  EXPECT_TRUE(target_.lives());
}

TEST_F(Attach, ControlByNamedPipes) {
  const std::string commands = folder_ / "commands";
  const std::string answers = folder_ / "answers";
  ASSERT_EQ(mkfifo(commands.c_str(), 0600) + mkfifo(answers.c_str(), 0600), 0);
  for (const int file : {commands_[1], acknowledgements_[0]}) {
    close(file);
  }
  commands_[1] = open(commands.c_str(), O_RDWR);
  acknowledgements_[0] = open(answers.c_str(), O_RDWR);
  begin({"-D", "-1", "--control", "fifo:" + commands + "," + answers});
  command("enable");
  EXPECT_TRUE(is_traced());
  command("stop");
  EXPECT_EQ(ptsim_.wait(), 0);
  expect_branches_equal(recording_);
}

TEST_F(Attach, InterruptEndsTheRecordingWell) {
  begin({});
  wait_for_trace();
  ptsim_.send(SIGINT);
  EXPECT_EQ(ptsim_.wait(), 0);
  EXPECT_EQ(recording_.errors(), "");
  EXPECT_TRUE(target_.lives());
}

TEST_F(Attach, TheTargetMayDie) {
  begin({});
  wait_for_trace();
  target_.send(SIGKILL);
  EXPECT_EQ(ptsim_.wait(), 0);
  EXPECT_EQ(recording_.errors(), "");
}

} // namespace
} // namespace ptlens::ptsim::testing
