// Hand-written samples with known times between the first and second hits of entries and exits.
#include "record/probes/cost_in_time.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>

namespace ptlens::record::test {
namespace {

constexpr std::uint32_t entry = 0;
constexpr std::uint32_t after_entry = 1;
constexpr std::uint32_t exit_hit = 2;
constexpr std::uint32_t after_exit = 3;

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
                 std::uint64_t between_ns, std::uint64_t second_ip,
                 std::uint64_t exit_between_ns = 0) {
    for (std::size_t call = 0; call < calls; ++call) {
      const std::uint64_t start = begin_ns + call * 1'000'000;
      add(entry, tid, start, 0x1000);
      add(after_entry, tid, start + between_ns, second_ip);
      add(exit_hit, tid, start + 50'000, 0x1040);
      if (exit_between_ns != 0) {
        add(after_exit, tid, start + 50'000 + exit_between_ns, 0x1040);
      }
    }
  }
  [[nodiscard]] std::vector<CostInTime> costs() const {
    std::vector<perfdata::Attribute> attributes(4);
    for (std::size_t event = 0; event < attributes.size(); ++event) {
      attributes[event].config = 100 + event;
    }
    ProbeCost cost;
    cost.timed_emulated.latency_ns = 1200;
    cost.timed_emulated.between_ns = 800;
    cost.timed_emulated.exit_between_ns = 600;
    cost.timed_stepped.exit_between_ns = 600;
    cost.timed_stepped.latency_ns = 9800;
    cost.timed_stepped.between_ns = 10'000;
    cost.timed_stepped.residual_ns = 98;
    const std::vector<Probe> probes = {
        {.kind = Probe::Kind::entry, .event_id = 100, .binary = {}},
        {.kind = Probe::Kind::after_entry, .event_id = 101, .binary = {}},
        {.kind = Probe::Kind::exit, .event_id = 102, .binary = {}},
        {.kind = Probe::Kind::after_exit, .event_id = 103, .binary = {}}};
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

// Of a Zen 4: 821 ns between an entry's hits, 611 between an exit's and 1165 of latency; the same,
// 676 and 1425 in another process; 1021, 816 and 1520 while others used the core.
TEST(CostInTime, FollowsTheHitsOfExitsWhenTheyAreKnown) {
  Samples samples;
  samples.add_calls(7, 14, 1'000'000'000, 800, 0x1000, 664);
  samples.add_calls(7, 14, 2'000'000'000, 995, 0x1000, 801);
  const auto costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  ASSERT_EQ(costs[0].scale.size(), 4U);
  EXPECT_NEAR(costs[0].scale[0], 1425.0 / 1165, 0.07);
  EXPECT_NEAR(costs[0].scale[2], 1520.0 / 1165, 0.07);
  const std::vector<double> hit_scales = {1, 1, 1.2438, 1.2438};
  EXPECT_EQ(costs[0].hit_scale, hit_scales);
  Samples blind;
  blind.add_calls(7, 14, 1'000'000'000, 800, 0x1000);
  EXPECT_LT(costs[0].uncertainty[0], 2 * blind.costs()[0].uncertainty[0]);
}

TEST(CostInTime, AddsTheKernelEntryOfAnExpensiveExitWhenTheEntryIsSteppedOver) {
  Samples samples;
  samples.add_calls(7, 7, 1'000'000'000, 10'000, 0x1004, 660);
  samples.add_calls(7, 7, 2'000'000'000, 15'000, 0x1004, 800); // both grew: the entry includes it
  const auto costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  // A tenth more than 600, 3.5 times: 210 of 9800. Then 5000 of 9800.
  const std::vector<double> scales = {1.0214, 1.5102};
  EXPECT_EQ(costs[0].scale, scales);
}

TEST(CostInTime, IncludesTheWholeHitWhenTheSecondIsAtTheNextInstruction) {
  Samples samples;
  samples.add_calls(7, 7, 1'000'000'000, 14'900, 0x1004);
  const auto costs = samples.costs();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].scale, std::vector{1.5}); // (9800 + 4900) / 9800
  // The residual, and half of the 200 ns that are not between the hits: 198 of 14,700.
  EXPECT_EQ(costs[0].uncertainty, std::vector{0.0135});
}

TEST(CostInTime, AnInterruptOrALostHitChangesNothing) {
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
