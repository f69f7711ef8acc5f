// The figures of a set of calls.
#pragma once

#include "cache/writing/tally.hpp"
#include "measure/measurement.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace ptlens::measure {

using cache::percentile_shares;
using cache::Tally;
using cache::uncertainty_shares;
using cache::WideSum;

// How far each figure of a latency may be off, either way, ns. The errors of a trace are the same
// for all figures: nineteen of twenty latencies are known to ± this. The error of the cost of a
// probe is the same in all calls, and does not average out. So a mean has the mean of the calls'
// uncertainties, and a percentile has an upper quantile of them: half of the calls that are slower
// have at most that (a slow call contains more hits).
struct FigureErrors {
  double mean = 0;
  double total = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t p999 = 0;
};

// Where the time of probes was removed, a figure that is not larger than its uncertainty only has
// an upper bound, their sum: the figure and its uncertainty both are half of that.
struct LatencyStats { // ns; all 0 when there is no complete call
  std::uint64_t calls = 0;
  double mean = 0;
  double stddev = 0; // of the population
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t p999 = 0;
  std::uint64_t total = 0;
  std::uint64_t uncertainty = 0; // nineteen of twenty latencies are known to ± this
  FigureErrors within;
  bool corrected = false; // the time of probes was removed
};

struct OffCpuStats {
  double mean = 0; // over all complete calls
  std::uint64_t total = 0;
  std::uint64_t calls = 0; // that were switched out at least once
  std::uint64_t switches = 0;
  std::uint64_t blocked = 0; // part of total
  std::uint64_t preempted = 0;
};

// [low, high) ns. Powers of two, [2^k, 2^(k+1)); a call of 0 ns goes to [0, 1). The last bucket
// possible ends at 2^64 - 1, which it includes.
struct Bucket {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t calls = 0;
  std::uint64_t off_cpu_calls = 0; // of them, switched out at least once
};

struct Figures {
  LatencyStats latency;
  double mean_uncertainty = 0; // of the calls' latencies, ns
  OffCpuStats off_cpu;
  std::uint64_t on_cpu_total = 0;     // ns
  std::uint64_t self_total = 0;       // ns
  std::uint64_t outside_total = 0;    // ns
  std::uint64_t outermost_on_cpu = 0; // ns; of calls that are not nested in one another
};

// Returns whether a figure is not larger than its uncertainty. It is then known to be below their
// sum, and nothing else.
[[nodiscard]] constexpr bool is_below_resolution(double figure, double within) {
  return within > 0 && within >= figure;
}

// Makes both half of their sum where the figure is below the resolution of probes; at least 1 ns.
void halve_below_resolution(double& figure, double& within);
void halve_below_resolution(std::uint64_t& figure, std::uint64_t& within);
void halve_below_resolution(std::uint64_t& figure, double& within);

// Returns the sum, or 2^64 - 1 where it is larger.
[[nodiscard]] std::uint64_t clamp_to_64_bits(WideSum sum);

// Returns the mean; 0 where there are no calls.
[[nodiscard]] double mean_of(WideSum sum, std::uint64_t calls);

// Returns the standard deviation of the population. The order of the calls does not affect it.
[[nodiscard]] double stddev_of(const Tally& tally);

[[nodiscard]] Figures figures_of(const Tally& tally, const cache::TalliedRanks& ranks);

// The number of calls by the bit width of their latency.
using WidthCounts = std::array<std::uint64_t, 65>;

// Returns a bucket for each bit width, from the first to the last that has calls.
[[nodiscard]] std::vector<Bucket> buckets_of(const WidthCounts& calls,
                                             const WidthCounts& off_cpu_calls);

// Returns 100 x time / (traced - lost), 100 being one core; 0 where nothing was traced.
[[nodiscard]] double cpu_percent(const RecordingInfo& recording, std::uint64_t on_cpu_ns);

} // namespace ptlens::measure
