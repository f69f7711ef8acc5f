#include "record/probes/late_calls.hpp"

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

} // namespace
} // namespace ptlens::record
