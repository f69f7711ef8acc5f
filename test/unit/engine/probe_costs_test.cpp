// Costs of hits in a manifest, also of one that was tampered with.
#include "engine/probes/probe_costs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ptlens::engine {
namespace {

using record::Probe;

Probe entry(double latency_ns, double hit_ns, double uncertainty_ns) {
  Probe probe;
  probe.target = true;
  probe.latency_ns = latency_ns;
  probe.hit_ns = hit_ns;
  probe.uncertainty_ns = uncertainty_ns;
  return probe;
}

Probe exit_of(double hit_ns) {
  Probe probe;
  probe.kind = Probe::Kind::exit;
  probe.hit_ns = hit_ns;
  return probe;
}

TEST(ProbeCosts, ComeFromTheManifest) {
  std::vector<Probe> probes = {entry(1500, 2500, 120.5), exit_of(1000), exit_of(0)};
  probes[0].late_ns = 1900.5;
  const ProbeCosts costs(probes);
  EXPECT_TRUE(costs.measured());
  EXPECT_DOUBLE_EQ(costs.excess(probes[0]).ns, 1500);
  EXPECT_DOUBLE_EQ(costs.excess(probes[0]).uncertainty_ns, 120.5);
  EXPECT_DOUBLE_EQ(costs.late(probes[0]).ns, 1900.5);
  EXPECT_DOUBLE_EQ(costs.late(probes[0]).uncertainty_ns, 1900.5);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[0]).ns, 2500);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[1]).ns, 1000);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[2]).ns, 0); // at the entry's instruction, which has the cost
  EXPECT_EQ(costs.resolution_ns(), 121U);
}

TEST(ProbeCosts, AreAssumedWhereNoneWasMeasured) {
  const std::vector<Probe> probes = {entry(0, 0, 0), exit_of(0)};
  const ProbeCosts costs(probes);
  EXPECT_FALSE(costs.measured());
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[1]).ns, costs.of_hit(probes[1]).uncertainty_ns);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[1]).ns, 10'000); // 0 to 20 us
  EXPECT_EQ(costs.resolution_ns(), 10'000U);
}

TEST(ProbeCosts, AreTimes) {
  std::vector<Probe> probes = {
      entry(-5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()),
      exit_of(1e300)};
  probes[0].late_ns = -1;
  const ProbeCosts costs(probes);
  EXPECT_DOUBLE_EQ(costs.excess(probes[0]).ns, 0);
  EXPECT_DOUBLE_EQ(costs.late(probes[0]).ns, 0);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[0]).ns, 0);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[0]).uncertainty_ns, 0);
  EXPECT_DOUBLE_EQ(costs.of_hit(probes[1]).ns, 1e9);
}

} // namespace
} // namespace ptlens::engine
