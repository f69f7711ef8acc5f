#include "record/probes/events/hit_ring.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <linux/perf_event.h>
#include <vector>

namespace ptlens::record {
namespace {

// A record with a number behind its header.
std::vector<std::byte> record_of(std::uint32_t type, std::uint64_t number) {
  perf_event_header header{.type = type, .misc = 0, .size = 16};
  std::vector<std::byte> bytes(16);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &number, sizeof number);
  return bytes;
}

class Ring : public testing::Test {
protected:
  HitRing ring(const HitRing::Limits& limits) {
    return {limits, [this](std::span<const std::byte> record) {
              std::uint64_t number = 0;
              std::memcpy(&number, record.data() + sizeof(perf_event_header), sizeof number);
              stored.push_back(number);
            }};
  }
  std::vector<std::uint64_t> stored;
};

TEST_F(Ring, KeepsTheHitsOfTheLastTime) {
  HitRing kept = ring({.keep_ns = 10, .keep_bytes = 1'000'000});
  for (std::uint64_t time = 0; time < 100; ++time) {
    kept.add(record_of(time % 2 == 0 ? PERF_RECORD_SAMPLE : PERF_RECORD_SWITCH, time), time);
  }
  EXPECT_TRUE(stored.empty());
  kept.finish();
  EXPECT_EQ(stored, (std::vector<std::uint64_t>{89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99}));
  EXPECT_EQ(kept.dropped(), 89U);
}

TEST_F(Ring, KeepsNoMoreThanItsBytes) {
  HitRing kept = ring({.keep_ns = 1'000'000, .keep_bytes = 5 * 16});
  for (std::uint64_t time = 0; time < 100; ++time) {
    kept.add(record_of(PERF_RECORD_SAMPLE, time), time);
  }
  kept.finish();
  EXPECT_EQ(stored, (std::vector<std::uint64_t>{95, 96, 97, 98, 99}));
}

TEST_F(Ring, StoresWhatDescribesProcessesHoweverOldInOrder) {
  HitRing kept = ring({.keep_ns = 2, .keep_bytes = 1'000'000});
  const auto add = [&](std::uint32_t type, std::uint64_t time) {
    kept.add(record_of(type, time), time);
  };
  add(PERF_RECORD_MMAP2, 0);
  add(PERF_RECORD_SAMPLE, 1);
  add(PERF_RECORD_FORK, 2);
  add(PERF_RECORD_SAMPLE, 8);
  EXPECT_EQ(stored, (std::vector<std::uint64_t>{0, 2}));
  add(PERF_RECORD_COMM, 9);
  kept.finish();
  EXPECT_EQ(stored, (std::vector<std::uint64_t>{0, 2, 8, 9}));
}

TEST_F(Ring, KeepsALongCallWhole) {
  HitRing kept = ring({.keep_ns = 10, .keep_bytes = 1'000'000});
  kept.protect(3);
  for (std::uint64_t time = 0; time < 50; ++time) {
    kept.add(record_of(PERF_RECORD_SAMPLE, time), time);
  }
  kept.protect(UINT64_MAX);
  EXPECT_EQ(kept.dropped(), 3U);
  kept.add(record_of(PERF_RECORD_SAMPLE, 50), 50);
  kept.finish();
  EXPECT_EQ(stored.front(), 40U);
  EXPECT_EQ(kept.first_stored_ns(), 40U);
}

TEST_F(Ring, ARecordThatIsLargerThanTheRingIsDropped) {
  HitRing kept = ring({.keep_ns = 10, .keep_bytes = 8});
  kept.add(record_of(PERF_RECORD_SAMPLE, 1), 1);
  kept.finish();
  EXPECT_TRUE(stored.empty());
}

} // namespace
} // namespace ptlens::record
