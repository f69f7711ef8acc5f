// Samples made by hand: how far the second hit of an entry lies behind the first is known.
#include "record/cost_in_time.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>

namespace ptlens::record::test {
namespace {

constexpr std::uint32_t entry = 0;
constexpr std::uint32_t after_entry = 1;
constexpr std::uint32_t exit_hit = 2;

class Samples {
public:
  void add(std::uint32_t event, std::int32_t tid, std::uint64_t time_ns, std::uint64_t ip) {
    auto& raw = raw_.emplace_back();
    std::memcpy(raw.data() + 8, &ip, sizeof ip);
    perfdata::Sample sample;
    sample.time_ns = time_ns;
    sample.tid = tid;
    sample.attribute = event;
    sample.raw = raw;
    samples_.push_back(sample);
  }
  // A call each 1 ms from begin_ns on.
  void add_calls(std::int32_t tid, std::size_t calls, std::uint64_t begin_ns,
                 std::uint64_t between_ns, std::uint64_t second_ip) {
    for (std::size_t call = 0; call < calls; ++call) {
      const std::uint64_t start = begin_ns + call * 1'000'000;
      add(entry, tid, start, 0x1000);
      add(after_entry, tid, start + between_ns, second_ip);
      add(exit_hit, tid, start + 50'000, 0x1040);
    }
  }
  [[nodiscard]] std::vector<CostInTime> costs() const {
    std::vector<perfdata::Attribute> attributes(3);
    for (std::size_t event = 0; event < attributes.size(); ++event) {
      attributes[event].config = 100 + event;
    }
    ProbeCost cost;
    cost.timed_emulated.latency_ns = 1200;
    cost.timed_emulated.between_ns = 800;
    cost.timed_stepped.latency_ns = 9800;
    cost.timed_stepped.between_ns = 10'000;
    cost.timed_stepped.residual_ns = 98;
    const std::vector<Probe> probes = {
        {.kind = Probe::Kind::entry, .event_id = 100, .binary = {}},
        {.kind = Probe::Kind::after_entry, .event_id = 101, .binary = {}},
        {.kind = Probe::Kind::exit, .event_id = 102, .binary = {}}};
    return cost_in_time(samples_, attributes, probes, cost);
  }

private:
  std::deque<std::array<std::byte, 24>> raw_;
  std::vector<perfdata::Sample> samples_;
};

TEST(CostInTime, FollowsTheTimeBetweenTheHitsOfAnEntry) {
  Samples samples;
  samples.add_calls(7, 14, 1'000'000'000, 800, 0x1000);
  samples.add_calls(7, 14, 2'000'000'000, 1000, 0x1000);
  samples.add(exit_hit, 8, 3'000'000'000, 0x1040); // a thread that never enters
  const auto costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].tid, 7);
  const std::vector<double> scales = {1, 1, 1.25, 1.25}; // 800 / 800, 1000 / 800; seven calls each
  EXPECT_EQ(costs[0].scale, scales);
  const std::vector<std::uint64_t> starts = {1'000'000'000, 1'007'000'000, 2'000'000'000,
                                             2'007'000'000};
  EXPECT_EQ(costs[0].from_ns, starts);
  EXPECT_GT(costs[0].uncertainty[2], costs[0].uncertainty[0]);
}

TEST(CostInTime, HoldsTheWholeHitWhereTheSecondIsAtTheNextInstruction) {
  Samples samples;
  samples.add_calls(7, 7, 1'000'000'000, 14'900, 0x1004);
  const auto costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].scale, std::vector{1.5}); // (9800 + 4900) / 9800
  // The residual, and half of the 200 ns that are not between the hits: 198 of 14,700.
  EXPECT_EQ(costs[0].uncertainty, std::vector{0.0135});
}

TEST(CostInTime, AnInterruptOrALostHitMovesNothing) {
  Samples samples;
  samples.add_calls(7, 3, 1'000'000'000, 800, 0x1000);
  samples.add_calls(7, 1, 1'003'000'000, 700'000, 0x1000);
  samples.add(entry, 7, 1'004'000'000, 0x1000);
  samples.add(exit_hit, 7, 1'004'050'000, 0x1040);
  samples.add(after_entry, 7, 1'005'000'000, 0x1000);
  samples.add_calls(7, 3, 1'006'000'000, 800, 0x1000);
  const auto costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].scale, std::vector{1.0});
}

} // namespace
} // namespace ptlens::record::test
