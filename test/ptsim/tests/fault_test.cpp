// Faults on demand. perf reports each fault, and decodes exactly the rest of the stepped branches.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ptlens::ptsim::testing {
namespace {

// 60 rounds of branches that no packet can leave out, each with a system call and 3 calls.
constexpr const char* fault_program = R"(
#include <unistd.h>
#define OWN extern "C" __attribute__((noipa))
OWN unsigned leaf(unsigned seed) { return seed / 2 + 7; }
OWN unsigned turn(unsigned seed) {
  for (int i = 0; i < 30; ++i) { if (seed & 1) seed = seed * 5 + 3; else seed = seed / 2 + 9; }
  for (int i = 0; i < 3; ++i) seed += leaf(seed);
  return seed;
}
int main() {
  unsigned value = 1;
  for (int i = 0; i < 60; ++i) { value += turn(value); getppid(); }
  return value == 0;
}
)";

class Fault : public ::testing::Test {
protected:
  void SetUp() override {
    static const std::string why_not = why_no_recordings();
    if (!why_not.empty()) {
      GTEST_SKIP() << why_not;
    }
    compile(fault_program, folder_ / "program", "-no-pie");
  }

  Recording record_with(const std::vector<std::string>& options) {
    std::vector<std::string> all{"--start-at", "main", "--slice", "1500"};
    all.insert(all.end(), options.begin(), options.end());
    Recording recording = record(folder_ / "perf.data", cycle_accurate, all, {folder_ / "program"});
    EXPECT_EQ(recording.made.status, 0) << recording.made.err;
    EXPECT_EQ(recording.count("turn", "complete"), 60U);
    EXPECT_EQ(recording.count("leaf", "complete"), 180U);
    return recording;
  }

  // Expects that perf reports only errors that contain `words`, and decodes all branches in order
  // except the branches in the truth's lost intervals. Returns the number of errors.
  static std::size_t expect_all_but_lost(const Recording& recording, const std::string& words) {
    const auto errors = lines_of(recording.error_lines());
    const auto lost = recording.lost();
    for (const std::string& error : errors) {
      EXPECT_NE(error.find(words), std::string::npos) << error;
    }
    std::vector<BranchEvent> expected;
    for (const BranchEvent& event : recording.stepped()) {
      const bool covered = std::ranges::any_of(lost, [&](const LostTrace& interval) {
        return event.tid == interval.tid && event.ns >= interval.begin && event.ns <= interval.end;
      });
      EXPECT_TRUE(covered || !event.lost) << event.kind << " at " << event.ns;
      if (!event.lost) {
        expected.push_back(event);
      }
    }
    std::size_t next = 0;
    for (const BranchEvent& event : recording.decoded("b")) {
      if (next < expected.size() && event.same_transfer(expected[next])) {
        ++next;
      } else if (event.from != 0) { // else where perf found the program again
        ADD_FAILURE() << "perf has a " << event.kind << " at " << event.ns << " before branch "
                      << next;
        break;
      }
    }
    EXPECT_EQ(next, expected.size());
    return errors.size();
  }

  TemporaryFolder folder_;
};

TEST_F(Fault, OverflowsLosePacketsUntilFupOrPge) {
  const Recording recording = record_with({"--fault", "ovf:every=150", "--seed", "5"});
  const std::size_t faults = expect_all_but_lost(recording, "Overflow packet");
  EXPECT_GT(faults, 10U);
  EXPECT_EQ(recording.lost().size(), faults);
  EXPECT_EQ(count_of(recording.dump(), " OVF"), faults);
}

TEST_F(Fault, FullBuffersLoseTraceUntilTheNextPsb) {
  const Recording recording = record_with({"--fault", "truncate:every=400"});
  const std::size_t faults = expect_all_but_lost(recording, "Lost trace data");
  EXPECT_GT(faults, 2U);
  EXPECT_EQ(count_of(recording.dump(), "flags: 0x1 [T]"), faults);
}

TEST_F(Fault, FullBuffersOfThreads) {
  const Recording recording =
      record_with({"--fault", "truncate:every=400", "--per-thread", "--switch-events"});
  EXPECT_GT(expect_all_but_lost(recording, "Lost trace data"), 2U);
}

// Decoders that go on reading behind the gap take what follows for the rest of the packet: here the
// packets alone are looked at. What our decoder makes of it: test/e2e/loss.test.mjs.
TEST_F(Fault, FullBuffersMayEndInsideAPacket) {
  const Recording recording = record_with({"--fault", "cut:every=150"});
  const auto lost = recording.lost();
  EXPECT_GT(lost.size(), 2U);
  EXPECT_EQ(count_of(recording.dump(), "flags: 0x1 [T]"), lost.size());
  const auto stepped = recording.stepped();
  for (const LostTrace& interval : lost) {
    const auto first = std::ranges::find_if(stepped, [&](const BranchEvent& event) {
      return event.tid == interval.tid && event.lost && event.ns >= interval.begin;
    });
    ASSERT_NE(first, stepped.end());
    EXPECT_NE(first->kind, "cond"); // the outcome of that has no address
    EXPECT_NE(first->kind, "jump");
    EXPECT_NE(first->to, 0U);
  }
}

TEST_F(Fault, LostSwitchRecordsAreTold) {
  const std::size_t switches = record_with({}).switches().size();
  const Recording recording = record_with({"--fault", "lost-sideband:every=3"});
  const std::size_t lost = recording.lost_records();
  EXPECT_GT(lost, 3U);
  EXPECT_EQ(recording.switches().size() + lost, switches);
  EXPECT_EQ(count_of(recording.dump(), "PERF_RECORD_LOST"), lost);
}

TEST_F(Fault, TrapsThatAVirtualMachineLosesChangeNothing) {
  const auto steps = [](const Recording& recording) {
    const std::string& said = recording.made.err;
    const std::size_t at = said.find("[ ptsim: ");
    return at == std::string::npos ? 0 : std::stoul(said.substr(at + std::size("[ ptsim: ") - 1));
  };
  const Recording whole = record_with({});
  const Recording recording = record_with({"--fault", "lost-trap:every=30"});
  EXPECT_LT(steps(recording), steps(whole) * 99 / 100);
  expect_branches_equal(recording);
}

TEST_F(Fault, TheTraceMayEndAbruptly) {
  const Recording recording = record_with({"--fault", "no-pgd"});
  EXPECT_EQ(recording.errors(), "");
  const auto decoded = recording.decoded("b");
  const auto stepped = recording.stepped();
  ASSERT_LT(decoded.size(), stepped.size());
  EXPECT_GT(decoded.size() + 20, stepped.size());
  for (std::size_t index = 0; index < decoded.size(); ++index) {
    ASSERT_TRUE(decoded[index].same_transfer(stepped[index])) << index;
  }
  const auto lost = recording.lost();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_GE(lost[0].begin, stepped[decoded.size() - 1].ns);
  EXPECT_LE(lost[0].begin, stepped[decoded.size()].ns);
}

// The program's addresses do not vary, nothing in it waits: time and faults are the seed's.
TEST_F(Fault, TheSameSeedTheSameFaults) {
  using Losses = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  const auto losses = [&](const std::string& seed) {
    const Recording recording = record_with({"--fault", "ovf:every=150", "--seed", seed});
    const std::uint64_t start = recording.stepped().front().ns;
    Losses relative;
    for (const LostTrace& interval : recording.lost()) {
      relative.emplace_back(interval.begin - start, interval.end - start);
    }
    return relative;
  };
  const auto near = [](const Losses& one, const Losses& other) { // of clocks that began elsewhere
    const auto apart = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; };
    return std::ranges::equal(one, other, [&](const auto& left, const auto& right) {
      return apart(left.first, right.first) <= 1 && apart(left.second, right.second) <= 1;
    });
  };
  const Losses first = losses("9");
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(near(losses("9"), first));
  EXPECT_FALSE(near(losses("10"), first));
}

} // namespace
} // namespace ptlens::ptsim::testing
