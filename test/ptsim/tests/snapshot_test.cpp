// Snapshots of a ring of trace: what perf decodes is the end of what was stepped before each.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <unistd.h>

namespace ptlens::ptsim::testing {
namespace {

// Turns for ever, or as often as is asked for.
constexpr const char* snapshot_program = R"(
#include <cstdlib>
#include <unistd.h>
extern "C" __attribute__((noipa)) unsigned turn(unsigned seed) {
  for (int i = 0; i < 9; ++i) { if (seed & 1) seed = seed * 5 + 3; else seed = seed / 2 + 9; }
  return seed;
}
int main(int count, char** arguments) {
  unsigned value = 1;
  const int turns = count > 1 ? atoi(arguments[1]) : 0;
  for (int i = 0; turns == 0 || i < turns; ++i) { value += turn(value); if (i % 64 == 0) usleep(100); }
  return value == 0;
}
)";

class Snapshot : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
    compile(snapshot_program, folder_ / "program");
  }

  // Each run of decoded branches is one of stepped branches, and the last of each run but the last
  // leaves user code: where the hardware was stopped. Returns the number of runs.
  static std::size_t expect_runs(const Recording& recording) {
    EXPECT_EQ(recording.errors(), "");
    const auto stepped = recording.stepped();
    const auto decoded = recording.decoded("b");
    EXPECT_FALSE(decoded.empty());
    std::size_t runs = 0;
    std::size_t at = 0;
    for (std::size_t index = 0; index < decoded.size(); ++index) {
      if (at < stepped.size() && runs > 0 && decoded[index].same_transfer(stepped[at])) {
        ++at;
        continue;
      }
      if (runs > 0) {
        EXPECT_EQ(decoded[index - 1].to, 0U) << "a run ends at " << decoded[index - 1].ns;
      }
      ++runs;
      while (at < stepped.size() && !run_begins(decoded, index, stepped, at)) {
        ++at;
      }
      if (at == stepped.size()) {
        ADD_FAILURE() << "branch " << index << " at " << decoded[index].ns << " was not stepped";
        break;
      }
      ++at;
    }
    return runs;
  }

  TemporaryFolder folder_;

private:
  // Whether the next branches of both are the same, at about the same time.
  static bool run_begins(const std::vector<BranchEvent>& decoded, std::size_t index,
                         const std::vector<BranchEvent>& stepped, std::size_t at) {
    constexpr std::uint64_t near_ns = 2000;
    const std::size_t length = std::min<std::size_t>(12, decoded.size() - index);
    if (stepped.size() - at < length) {
      return false;
    }
    for (std::size_t next = 0; next < length; ++next) {
      const BranchEvent& one = decoded[index + next];
      const BranchEvent& other = stepped[at + next];
      if (!one.same_transfer(other) || one.ns + near_ns < other.ns || other.ns + near_ns < one.ns) {
        return false;
      }
    }
    return true;
  }
};

TEST_F(Snapshot, AtTheEndHoldsTheLastOfTheRing) {
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate,
             {"--start-at", "main", "--snapshot=e", "-m", ",1", "--cpus", "1"},
             {folder_ / "program", "800"});
  EXPECT_EQ(recording.made.status, 0) << recording.made.err;
  EXPECT_EQ(recording.count("turn", "complete"), 800U); // the truth is whole
  EXPECT_EQ(expect_runs(recording), 1U);
  const std::string dump = recording.dump();
  EXPECT_EQ(count_of(dump, "PERF_RECORD_AUXTRACE size: 0x1000 "), 1U);
  EXPECT_NE(dump.find("Snapshot mode       1"), std::string::npos);
  EXPECT_NE(dump.find("flags: 0x2 [O]"), std::string::npos);
  const auto stepped = recording.stepped();
  const auto decoded = recording.decoded("b");
  EXPECT_TRUE(decoded.back().same_transfer(stepped.back()));
  EXPECT_LT(decoded.size() + 1000, stepped.size());
}

TEST_F(Snapshot, OfLessThanTheRing) {
  const Recording recording =
      record(folder_ / "perf.data", cycle_accurate,
             {"--start-at", "main", "--snapshot=e2048", "-m", ",2", "--cpus", "1"},
             {folder_ / "program", "800"});
  EXPECT_EQ(expect_runs(recording), 1U);
  EXPECT_EQ(count_of(recording.dump(), "PERF_RECORD_AUXTRACE size: 0x800 "), 1U);
}

TEST_F(Snapshot, OnCommandAndOnSignal) {
  Background target;
  target.start({folder_ / "program"});
  target.await_sleep();
  std::array<int, 2> commands{};
  std::array<int, 2> answers{};
  ASSERT_EQ(pipe(commands.data()), 0);
  ASSERT_EQ(pipe(answers.data()), 0);
  const Recording recording{folder_ / "perf.data", {}};
  Background recorder;
  recorder.start({PTSIM, "record", "-e", cycle_accurate, "--branches", "-S", "-m", ",1", "--cpus",
                  "1", "-o", recording.file, "-p", std::to_string(target.pid()), "--control",
                  "fd:" + std::to_string(commands[0]) + "," + std::to_string(answers[1])});
  const auto say = [&](const std::string& word) {
    const std::string line = word + "\n";
    ASSERT_EQ(::write(commands[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    std::array<char, 5> answer{};
    ASSERT_EQ(::read(answers[0], answer.data(), answer.size()), 5);
    EXPECT_EQ(std::string(answer.data()), "ack\n");
  };
  const auto size = [&] {
    std::error_code missing;
    const auto bytes = std::filesystem::file_size(recording.file, missing);
    return missing ? 0 : bytes;
  };
  // Asks until a snapshot contains trace, because ptsim can still be attaching.
  const auto take = [&](const auto& ask) {
    const auto before = size();
    while (recorder.lives() && size() < before + 100) {
      usleep(20'000);
      ask();
    }
  };
  say("ping");
  while (recorder.lives() && size() == 0) {
    usleep(20'000);
  }
  take([&] { say("snapshot"); });
  take([&] { say("snapshot"); });
  take([&] { recorder.send(SIGUSR2); });
  say("stop");
  EXPECT_EQ(recorder.wait(), 0);
  for (const int file : {commands[0], commands[1], answers[0], answers[1]}) {
    close(file);
  }
  EXPECT_TRUE(target.lives());
  const std::size_t snapshots = count_of(recording.dump(), "PERF_RECORD_AUXTRACE size");
  EXPECT_GE(snapshots, 3U);
  EXPECT_LE(expect_runs(recording), snapshots);
}

} // namespace
} // namespace ptlens::ptsim::testing
