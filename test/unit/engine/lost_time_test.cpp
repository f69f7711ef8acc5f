// The lost time of recordings, worked out by hand.
#include "engine/recording/loaded_recording.hpp"

#include <gtest/gtest.h>

namespace ptlens::engine {
namespace {

// Of a trace of 100 µs, gaps less than 100 ns apart are one interval, and only what is lost counts.
TEST(LostTime, IsThatOfTheGapsInEachInterval) {
  measure::Measurement measurement;
  measurement.threads.push_back({.pid = 1, .tid = 1, .comm = "work", .last_ns = 100'000});
  sum_up(measurement, {{5'000, 5'001}, {150, 250}, {100, 200}, {260, 300}});
  const measure::RecordingInfo& info = measurement.recording;
  EXPECT_EQ(info.lost_ns, 150U + 40 + 1);
  ASSERT_EQ(info.lost.size(), 2U);
  EXPECT_EQ(info.lost[0].begin, 100U);
  EXPECT_EQ(info.lost[0].end, 300U);
  EXPECT_EQ(info.lost[0].lost_ns, 190U);
  EXPECT_EQ(info.lost[1].begin, 5'000U);
  EXPECT_EQ(info.lost[1].lost_ns, 1U);
}

} // namespace
} // namespace ptlens::engine
