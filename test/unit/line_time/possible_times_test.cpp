// Assigning spans of time to sets of lines: cases computed by hand, and random true times that are
// only known as intervals.
#include "line_time/possible_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace ptlens::line_time {
namespace {

constexpr std::uint32_t away = LineSets::only_elsewhere;

class Times {
public:
  explicit Times(std::span<const perfdata::OffCpuInterval> off = {})
      : possible_(sets, times, perfdata::OffCpuClock(off)) {}

  void reach(std::uint64_t low, std::uint64_t high, std::uint32_t set) {
    possible_.reach(low, high, set);
  }
  void forget() { possible_.forget(); }

  // ns by members; all time when the last moment was the end.
  std::map<std::vector<std::uint32_t>, std::uint64_t> finish() {
    possible_.finish();
    std::map<std::vector<std::uint32_t>, std::uint64_t> found;
    for (std::uint32_t set = 0; set < times.size(); ++set) {
      if (times[set] != 0) {
        const auto members = sets.members(set);
        found[{members.begin(), members.end()}] = times[set];
      }
    }
    return found;
  }

  LineSets sets;
  std::vector<std::uint64_t> times;

private:
  PossibleTimes possible_;
};

using Found = std::map<std::vector<std::uint32_t>, std::uint64_t>;

TEST(PossibleTimes, AssignsAllTimeBetweenExactTimestamps) {
  Times times;
  times.reach(100, 100, away);
  times.reach(150, 150, times.sets.of({1}));
  times.reach(170, 170, times.sets.of({2}));
  times.reach(500, 500, away);
  times.reach(530, 530, times.sets.of({1}));
  EXPECT_EQ(times.finish(), (Found{{{1}, 80}, {{2}, 20}}));
}

TEST(PossibleTimes, SeparatesNothingInsideAnInterval) {
  Times times;
  times.reach(100, 100, away);
  times.reach(150, 200, times.sets.of({1}));
  times.reach(150, 200, times.sets.of({2}));
  times.reach(150, 200, times.sets.of({1}));
  times.reach(250, 250, times.sets.of({2}));
  EXPECT_EQ(times.finish(), (Found{{{1}, 50}, {{1, 2}, 50}, {{2}, 50}}));
}

TEST(PossibleTimes, SharesWithCodeThatIsNotTimed) {
  Times times;
  times.reach(100, 100, away);
  times.reach(140, 160, times.sets.of({7}));
  times.reach(300, 300, away);
  EXPECT_EQ(times.finish(), (Found{{{7}, 40}, {{7, LineSets::elsewhere}, 20}}));
}

TEST(PossibleTimes, LeavesOffCpuTimeOut) {
  const std::vector<perfdata::OffCpuInterval> off = {{.begin = 110, .end = 140, .preempted = true}};
  Times times(off);
  times.reach(100, 100, away);
  times.reach(150, 150, times.sets.of({1}));
  EXPECT_EQ(times.finish(), (Found{{{1}, 20}}));
}

TEST(PossibleTimes, ALaterTimestampBoundsThePreviousOne) {
  Times times;
  times.reach(100, 100, away);
  times.reach(120, 900, times.sets.of({1})); // as behind a loss
  times.reach(150, 150, times.sets.of({2}));
  times.reach(200, 200, times.sets.of({3}));
  EXPECT_EQ(times.finish(), (Found{{{1}, 20}, {{1, 2}, 30}, {{3}, 50}}));
}

TEST(PossibleTimes, AssignsNothingWithoutTimestamps) {
  Times times;
  times.reach(100, 100, away);
  times.reach(110, 110, times.sets.of({1}));
  times.forget();
  times.reach(500, 500, times.sets.of({1}));
  times.reach(520, 520, times.sets.of({1}));
  EXPECT_EQ(times.finish(), (Found{{{1}, 30}}));
}

TEST(LineSets, TooManySetsAreReplacedByAllLines) {
  LineSets sets(3);
  const std::uint32_t one = sets.of({1});
  const std::uint32_t two = sets.of({1, 2});
  EXPECT_EQ(sets.of({1, 3}), LineSets::everything);
  EXPECT_EQ(sets.unite(one, two), two);
  EXPECT_EQ(sets.unite(one, LineSets::everything), LineSets::everything);
}

// Random timestamps, known as intervals that contain them; ends of intervals ascend as those of
// packets do. What each line took is between its bounds, and no time is given twice or lost.
TEST(PossibleTimes, TheTruthIsBetweenTheBounds) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&random](std::uint64_t most) { return random() % (most + 1); };
    constexpr std::uint32_t lines = 4;
    Times times;
    std::vector<std::uint64_t> packets = {1000}; // times of timing packets
    while (packets.size() < 60) {
      packets.push_back(packets.back() + 1 + up_to(seed % 3 == 0 ? 2 : 40));
    }
    std::map<std::uint32_t, std::uint64_t> truth;
    std::uint64_t now = packets.front();
    times.reach(now, now, away);
    for (std::size_t packet = 1; packet < packets.size(); ++packet) {
      for (std::uint64_t moments = up_to(6); moments > 0; --moments) {
        const std::uint64_t at = now + up_to(packets[packet] - now);
        const auto line = static_cast<std::uint32_t>(up_to(lines)); // the last: elsewhere
        const bool exact = up_to(9) == 0;
        times.reach(exact ? at : std::min(packets[packet - 1], at), exact ? at : packets[packet],
                    line == lines ? away : times.sets.of({line}));
        truth[line] += at - now;
        now = at;
      }
    }
    times.reach(packets.back(), packets.back(), away);
    const Found found = times.finish();
    std::uint64_t total = 0;
    for (std::uint32_t line = 0; line < lines; ++line) {
      std::uint64_t least = 0;
      std::uint64_t most = 0;
      for (const auto& [members, ns] : found) {
        const bool holds = std::ranges::find(members, line) != members.end();
        most += holds ? ns : 0;
        least += holds && members.size() == 1 ? ns : 0;
      }
      EXPECT_LE(least, truth[line]) << "seed " << seed << " line " << line;
      EXPECT_GE(most, truth[line]) << "seed " << seed << " line " << line;
    }
    for (const auto& [members, ns] : found) {
      total += ns;
    }
    EXPECT_LE(total, packets.back() - packets.front());
  }
}

} // namespace
} // namespace ptlens::line_time
