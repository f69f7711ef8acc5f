// The figures of a set of calls, and of many sets at once.
#pragma once

#include "cache/tally.hpp"
#include "measure/report/report.hpp"
#include "stacks/calls/call.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

using cache::percentile_shares;
using cache::Tally;
using cache::uncertainty_share;
using cache::WideSum;

[[nodiscard]] std::uint64_t clamp_to_64_bits(WideSum sum);

// 0 where there are no calls.
[[nodiscard]] double mean_of(WideSum sum, std::uint64_t calls);

// Of the population. The same whatever the order of the calls.
[[nodiscard]] double stddev_of(const Tally& tally);

[[nodiscard]] std::vector<Bucket> histogram(const stacks::CallTable& calls,
                                            std::span<const std::uint32_t> counted);

// True when the call's thread was switched out during it.
[[nodiscard]] inline bool was_off_cpu(const stacks::CallTable& calls, std::size_t call) {
  return calls.switches[call] > 0 || calls.off_cpu(call) > 0;
}

[[nodiscard]] inline std::uint64_t on_cpu(const stacks::CallTable& calls, std::size_t call) {
  const std::uint64_t off = calls.off_cpu(call);
  return calls.latency[call] > off ? calls.latency[call] - off : 0;
}

struct Figures {
  LatencyStats latency;
  OffCpuStats off_cpu;
  std::uint64_t on_cpu_total = 0;     // ns
  std::uint64_t self_total = 0;       // ns
  std::uint64_t outside_total = 0;    // ns
  std::uint64_t outermost_on_cpu = 0; // ns; of calls that `covered` does not hold
};

[[nodiscard]] Figures figures_of(const Tally& tally, const cache::TalliedRanks& ranks);

// Buckets by the bit width of the latency; from the first to the last in use.
using UncertaintyCounts = std::array<std::uint64_t, 65>;
[[nodiscard]] std::vector<Bucket> buckets_of(const UncertaintyCounts& calls,
                                             const UncertaintyCounts& off_cpu_calls);

// Figures of `groups` sets: counted[i] belongs to set group[i]. `covered` as covered_calls gives
// it.
[[nodiscard]] std::vector<Figures> figures(const stacks::CallTable& calls,
                                           std::span<const std::uint32_t> counted,
                                           std::span<const std::uint32_t> group, std::size_t groups,
                                           const std::vector<std::uint8_t>& covered);

// 100 x time / (traced - lost), 100 being one core; 0 where nothing was traced.
[[nodiscard]] double cpu_percent(const RecordingInfo& recording, std::uint64_t on_cpu_ns);

} // namespace ptlens::measure
