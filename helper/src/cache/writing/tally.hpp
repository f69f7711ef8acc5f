// Sums over a set of calls, and the ranks of their latencies.
#pragma once

#include "cache/format/format.hpp"
#include "cache/writing/ranks.hpp"

#include <array>
#include <cstdint>

namespace ptlens::cache {

// Sums of 64-bit times that cannot overflow.
__extension__ using WideSum = unsigned __int128;

[[nodiscard]] inline WideSum wide(const Sum& sum) {
  constexpr unsigned half = 64;
  return WideSum{sum.high} << half | sum.low;
}
[[nodiscard]] inline Sum narrow(WideSum sum) {
  constexpr unsigned half = 64;
  return {.low = static_cast<std::uint64_t>(sum), .high = static_cast<std::uint64_t>(sum >> half)};
}

// Sums over complete calls. Tallies of disjoint sets can be added.
struct Tally {
  std::uint64_t calls = 0;
  std::uint64_t least = UINT64_MAX; // latency, ns
  std::uint64_t most = 0;
  WideSum latency = 0;
  WideSum squares = 0;            // of latencies, modulo 2^128
  std::uint64_t squares_high = 0; // the number of overflows of `squares`
  WideSum blocked = 0;
  WideSum preempted = 0;
  WideSum on_cpu = 0;
  WideSum self = 0;
  WideSum outside = 0;
  WideSum removed = 0;
  WideSum uncertainty = 0;
  WideSum covered_on_cpu = 0; // of nested calls
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

inline constexpr std::array<Share, 4> percentile_shares = {
    {{500, 1000}, {900, 1000}, {990, 1000}, {999, 1000}}};
// See measure::FigureErrors.
inline constexpr std::array<Share, 5> uncertainty_shares = {
    {{7500, 10000}, {9500, 10000}, {9950, 10000}, {9995, 10000}, {1, 1}}};

// The latencies at percentile_shares, and the uncertainties at uncertainty_shares; 0 without calls.
struct TalliedRanks {
  std::array<std::uint64_t, percentile_shares.size()> latencies{};
  std::array<std::uint64_t, uncertainty_shares.size()> uncertainties{};

  TalliedRanks() = default;
  // Takes the ranks of all latencies and uncertainties.
  TalliedRanks(Ranks& of_latencies, Ranks& of_uncertainties);
};

} // namespace ptlens::cache
