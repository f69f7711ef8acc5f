// The changes that make a recording fit. Rates and sizes are round numbers, and limits are
// calculated by hand (perf drains 200 MB/s from the buffers, and four fifths of the disk may be
// filled).
#include "record/perf/volume.hpp"
#include "record/probes/session/slow_call_watch.hpp"

#include <gtest/gtest.h>

namespace ptlens::record::test {
namespace {

constexpr std::uint64_t mb = 1'000'000;

Request two_seconds() {
  Request request;
  request.pid = 42;
  request.function = "f";
  request.duration_s = 2;
  return request;
}

Volume rate_of(std::uint64_t mb_a_second) {
  return {.seconds = 0.05, .bytes = mb_a_second * mb / 20};
}

TEST(Volume, ARequestThatFitsIsUnchanged) {
  const Room room{.buffer_bytes = 128 * mb, .disk_bytes = 10'000 * mb, .may_filter = true};
  const VolumeChoice choice = choose_volume(two_seconds(), rate_of(150), room);
  EXPECT_FALSE(choice.filter || choice.duration_s || choice.thread);
  EXPECT_TRUE(choice.reasons.empty());
  EXPECT_TRUE(choose_volume(two_seconds(), {}, room).reasons.empty());
}

TEST(Volume, TheFilterComesFirst) {
  const Room room{.buffer_bytes = 128 * mb, .disk_bytes = 10'000 * mb, .may_filter = true};
  const VolumeChoice choice = choose_volume(two_seconds(), rate_of(500), room);
  EXPECT_TRUE(choice.filter); // a fifth is 100 MB/s, which fits
  EXPECT_FALSE(choice.duration_s);
  ASSERT_EQ(choice.reasons.size(), 1U);
  EXPECT_EQ(choice.reasons.front().code, "volume_filter");
  EXPECT_NE(choice.reasons.front().text.find(
                "50 ms produced 25.0 MB of trace, so 2.0 s would produce 1000 MB"),
            std::string::npos)
      << choice.reasons.front().text;
}

TEST(Volume, TheDurationComesSecond) {
  // 300 MB/s more than is drained fill 150 MB in half a second.
  const Room buffers{.buffer_bytes = 150 * mb, .disk_bytes = 10'000 * mb};
  const VolumeChoice by_buffers = choose_volume(two_seconds(), rate_of(500), buffers);
  EXPECT_FALSE(by_buffers.filter || by_buffers.thread);
  EXPECT_NEAR(by_buffers.duration_s.value_or(0), 0.5, 1e-9);
  // Of 100 MB four fifths are filled by 80 MB/s in one second.
  const Room disk{.buffer_bytes = 150 * mb, .disk_bytes = 100 * mb};
  EXPECT_NEAR(choose_volume(two_seconds(), rate_of(80), disk).duration_s.value_or(0), 1, 1e-9);
}

TEST(Volume, TheBusiestThreadComesThird) {
  const Room room{.buffer_bytes = 10 * mb, .disk_bytes = 10'000 * mb};
  Volume volume = rate_of(1000); // 12.5 ms until the buffers are full
  volume.busiest = 43;
  volume.busiest_share = 0.15;
  const VolumeChoice choice = choose_volume(two_seconds(), volume, room);
  EXPECT_EQ(choice.thread, 43); // 150 MB/s are drained as they come
  EXPECT_NEAR(choice.duration_s.value_or(0), 2, 1e-9);
  volume.busiest_share = 1;
  EXPECT_FALSE(choose_volume(two_seconds(), volume, room).thread);
  EXPECT_NEAR(choose_volume(two_seconds(), volume, room).duration_s.value_or(0), 0.1, 1e-9);
}

TEST(Volume, AFullBufferInTheProbeIsTooMuchAtAnyRate) {
  const Room room{.buffer_bytes = 128 * mb, .disk_bytes = 10'000 * mb, .may_filter = true};
  Volume volume = rate_of(10);
  volume.truncated = true;
  EXPECT_TRUE(choose_volume(two_seconds(), volume, room).filter);
}

TEST(CallTimer, PairsByThreadAndStackPointer) {
  CallTimer timer;
  EXPECT_FALSE(timer.add(1, 100, false, 5)); // its start was not seen
  EXPECT_FALSE(timer.add(1, 100, true, 10));
  EXPECT_FALSE(timer.add(2, 100, true, 11));
  EXPECT_FALSE(timer.add(1, 80, true, 20)); // recursion
  EXPECT_EQ(timer.add(1, 80, false, 25), 5U);
  EXPECT_EQ(timer.add(1, 100, false, 40), 30U);
  EXPECT_EQ(timer.add(2, 100, false, 111), 100U);
  // An exception ended the inner call without an exit.
  EXPECT_FALSE(timer.add(1, 100, true, 50));
  EXPECT_FALSE(timer.add(1, 80, true, 60));
  EXPECT_EQ(timer.add(1, 100, false, 70), 20U);
  // And then the call itself: the next one takes its place.
  EXPECT_FALSE(timer.add(1, 100, true, 80));
  EXPECT_FALSE(timer.add(1, 100, true, 90));
  EXPECT_EQ(timer.add(1, 100, false, 92), 2U);
  EXPECT_FALSE(timer.add(1, 100, false, 93));
}

TEST(CallTimer, AFunctionOfGoThatBeginsAgainIsOneCall) {
  CallTimer timer;
  EXPECT_FALSE(timer.add(1, 100, true, 10));
  timer.restart(1, 100);
  EXPECT_FALSE(timer.add(1, 100, true, 40));
  EXPECT_EQ(timer.add(1, 100, false, 60), 50U);
}

} // namespace
} // namespace ptlens::record::test
