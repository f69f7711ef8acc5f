// The figures of a set of calls, and of many sets at once.
#pragma once

#include "measure/ranks.hpp"
#include "measure/report.hpp"
#include "stacks/call.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Sums of 64-bit times that cannot overflow.
__extension__ using WideSum = unsigned __int128;

[[nodiscard]] std::uint64_t clamp_to_64_bits(WideSum sum);

// 0 where there are no calls.
[[nodiscard]] double mean_of(WideSum sum, std::uint64_t calls);

// What sums tell of a set of complete calls; sets without a common call can be added.
struct Tally {
  std::uint64_t calls = 0;
  std::uint64_t least = UINT64_MAX; // latency, ns
  std::uint64_t most = 0;
  WideSum latency = 0;
  WideSum squares = 0;            // of latencies, modulo 2^128
  std::uint64_t squares_high = 0; // how often it went round
  WideSum blocked = 0;
  WideSum preempted = 0;
  WideSum on_cpu = 0;
  WideSum self = 0;
  WideSum outside = 0;
  WideSum covered_on_cpu = 0; // of calls inside counted calls of their function
  std::uint64_t off_cpu_calls = 0;
  std::uint64_t switches = 0;

  void add(const Tally& other);
  void add_latency(std::uint64_t value) {
    ++calls;
    least = value < least ? value : least;
    most = value > most ? value : most;
    latency += value;
    const WideSum square = static_cast<WideSum>(value) * value;
    squares += square;
    squares_high += squares < square ? 1 : 0;
  }
};

// Of the population. The same whatever the order of the calls.
[[nodiscard]] double stddev_of(const Tally& tally);

inline constexpr std::array<Share, 4> percentile_shares = {
    {{500, 1000}, {900, 1000}, {990, 1000}, {999, 1000}}};
inline constexpr std::array<Share, 1> resolution_share = {{{19, 20}}};

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

// `latencies` and `resolutions` have seen all of the calls, with the shares above.
[[nodiscard]] Figures figures_of(const Tally& tally, Ranks& latencies, Ranks& resolutions);

// Buckets by the bit width of the latency; from the first to the last in use.
using WidthCounts = std::array<std::uint64_t, 65>;
[[nodiscard]] std::vector<Bucket> buckets_of(const WidthCounts& calls,
                                             const WidthCounts& off_cpu_calls);

// Figures of `groups` sets: counted[i] belongs to set group[i]. `covered` as covered_calls gives
// it.
[[nodiscard]] std::vector<Figures> figures(const stacks::CallTable& calls,
                                           std::span<const std::uint32_t> counted,
                                           std::span<const std::uint32_t> group, std::size_t groups,
                                           const std::vector<std::uint8_t>& covered);

// 100 x time / (traced - lost), 100 being one core; 0 where nothing was traced.
[[nodiscard]] double cpu_percent(const RecordingInfo& recording, std::uint64_t on_cpu_ns);

} // namespace ptlens::measure
