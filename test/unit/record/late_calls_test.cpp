#include "record/probes/session/late_calls.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace ptlens::record {
namespace {

constexpr std::uint64_t entry_event = 7;
constexpr std::uint64_t exit_event = 8;
constexpr std::uint64_t return_event = 9;
constexpr std::uint64_t callee_event = 10;
constexpr std::uint64_t limit = 1'000;

std::vector<std::byte> payload(const std::vector<std::uint64_t>& words) {
  std::vector<std::byte> raw(words.size() * sizeof(std::uint64_t));
  std::memcpy(raw.data(), words.data(), raw.size());
  return raw;
}

class Late : public testing::Test {
protected:
  static std::vector<Probe> probes() {
    return {{.kind = Probe::Kind::entry, .event_id = entry_event, .binary = "", .target = true},
            {.kind = Probe::Kind::exit, .event_id = exit_event, .binary = "", .target = true},
            {.kind = Probe::Kind::returned, .event_id = return_event, .binary = "", .target = true},
            {.kind = Probe::Kind::entry, .event_id = callee_event, .binary = "", .target = false}};
  }
  void enter(std::int32_t tid, std::uint64_t time, std::uint64_t sp,
             std::uint64_t event = entry_event) {
    late.add(tid, time, payload({event, 0x1000, sp, 0x2000}));
  }
  void leave(std::int32_t tid, std::uint64_t time, std::uint64_t sp) {
    late.add(tid, time, payload({exit_event, 0x1010, sp}));
  }
  LateCalls late{"work", probes(), limit};
};

TEST_F(Late, TheFirstCallAboveTheLimitIsCaught) {
  enter(1, 0, 0x800);
  leave(1, limit, 0x800);
  EXPECT_FALSE(late.caught()) << "not longer than the limit";
  enter(1, 5'000, 0x800);
  enter(2, 5'100, 0x900);
  leave(2, 5'200, 0x900);
  leave(1, 5'000 + limit + 1, 0x800);
  ASSERT_TRUE(late.caught());
  EXPECT_EQ(late.caught()->tid, 1);
  EXPECT_EQ(late.caught()->latency_ns, limit + 1);
  EXPECT_EQ(late.note().code, "slow_call_caught");
  EXPECT_EQ(late.note().arguments, (std::vector<std::string>{"work", "0.001", "1", "3"}));
}

TEST_F(Late, AReturnProbeIsHitBehindTheReturnAddress) {
  enter(1, 0, 0x800);
  late.add(1, 3'000, payload({return_event, 0x1000, 0x2000, 0x808}));
  ASSERT_TRUE(late.caught());
  EXPECT_EQ(late.caught()->latency_ns, 3'000U);
}

TEST_F(Late, CalleesAndDamagedSamplesDoNotCount) {
  enter(1, 0, 0x800, callee_event);
  leave(1, 9'000, 0x800);
  late.add(1, 0, payload({entry_event, 0x1000}));
  late.add(1, 0, {});
  EXPECT_FALSE(late.caught());
  EXPECT_EQ(late.note().code, "no_slow_call");
}

// The payloads of probes in Go: goroutine_sample.hpp. Each stack is 0x1000 bytes long.
TEST(LateInGo, CallsAreTimedByGoroutine) {
  constexpr std::uint64_t restart_event = 11;
  constexpr std::uint64_t end_event = 12;
  const std::vector<Probe> probes = {
      {.kind = Probe::Kind::entry,
       .event_id = entry_event,
       .binary = "",
       .target = true,
       .goroutine = true},
      {.kind = Probe::Kind::exit,
       .event_id = exit_event,
       .binary = "",
       .target = true,
       .goroutine = true},
      {.kind = Probe::Kind::restart,
       .event_id = restart_event,
       .binary = "",
       .target = true,
       .goroutine = true},
      {.kind = Probe::Kind::goroutine_end, .event_id = end_event, .binary = "", .goroutine = true}};
  LateCalls late("work", probes, limit);
  const auto hit = [&late](std::uint64_t event, std::int32_t tid, std::uint64_t time,
                           std::uint64_t goroutine, std::uint64_t high) {
    late.add(tid, time,
             payload({event, 0x1000, high - 0x100, 0x2000, high - 0x1000, high, goroutine}));
  };
  hit(entry_event, 1, 0, 5, 0x8000);
  hit(end_event, 1, 10, 5, 0x8000); // its calls end without a return
  EXPECT_EQ(late.oldest_start(), UINT64_MAX);
  hit(entry_event, 1, 100, 6, 0x8000);
  hit(restart_event, 1, 110, 6, 0x8000);
  hit(entry_event, 1, 900, 6, 0x20000); // on a new stack
  hit(entry_event, 1, 950, 7, 0x9000);  // 6 waits
  hit(exit_event, 1, 960, 7, 0x9000);
  EXPECT_EQ(late.oldest_start(), 100U);
  EXPECT_FALSE(late.caught());
  hit(exit_event, 2, 100 + limit + 1, 6, 0x20000);
  ASSERT_TRUE(late.caught());
  EXPECT_EQ(late.caught()->latency_ns, limit + 1);
}

} // namespace
} // namespace ptlens::record
