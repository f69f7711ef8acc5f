// Exact statistics: sums in 128 bits, and the variance from them, so that it does not depend on the
// order of the calls: the sum of squares about the whole mean is exact, and nothing cancels in what
// is left.
#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace ptlens::measure {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

} // namespace

std::uint64_t clamp_to_64_bits(WideSum sum) {
  return sum > most ? most : static_cast<std::uint64_t>(sum);
}

double mean_of(WideSum sum, std::uint64_t calls) {
  return calls == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(calls);
}

double stddev_of(const Tally& tally) {
  if (tally.calls == 0) {
    return 0;
  }
  const auto calls = static_cast<long double>(tally.calls);
  const auto whole_mean = static_cast<std::uint64_t>(tally.latency / tally.calls);
  const auto rest = static_cast<long double>(
      static_cast<std::uint64_t>(tally.latency - static_cast<WideSum>(whole_mean) * tally.calls));
  // Squares of the distances to the whole mean, modulo 2^128.
  const WideSum squares = tally.squares - 2 * tally.latency * whole_mean +
                          static_cast<WideSum>(whole_mean) * whole_mean * tally.calls;
  const auto mean_of_rest = rest / calls;
  constexpr int bits = 128;
  if (std::bit_width(tally.calls) + 2 * std::bit_width(tally.most - tally.least) <= bits) {
    const auto mean_square = static_cast<long double>(squares) / calls;
    return static_cast<double>(
        std::sqrt(std::max(0.0L, mean_square - mean_of_rest * mean_of_rest)));
  }
  const long double mean = static_cast<long double>(whole_mean) + mean_of_rest;
  const long double sum = std::ldexp(static_cast<long double>(tally.squares_high), bits) +
                          static_cast<long double>(tally.squares);
  return static_cast<double>(std::sqrt(std::max(0.0L, sum / calls - mean * mean)));
}

Figures figures_of(const Tally& tally, const cache::TalliedRanks& ranks) {
  Figures figure;
  if (tally.calls != 0) {
    figure.latency = {.calls = tally.calls,
                      .mean = mean_of(tally.latency, tally.calls),
                      .stddev = stddev_of(tally),
                      .min = tally.least,
                      .max = tally.most,
                      .p50 = ranks.latencies[0],
                      .p90 = ranks.latencies[1],
                      .p99 = ranks.latencies[2],
                      .p999 = ranks.latencies[3],
                      .total = clamp_to_64_bits(tally.latency),
                      .uncertainty = ranks.uncertainty};
  }
  const WideSum off = tally.blocked + tally.preempted;
  figure.off_cpu = {.mean = mean_of(off, tally.calls),
                    .total = clamp_to_64_bits(off),
                    .calls = tally.off_cpu_calls,
                    .switches = tally.switches,
                    .blocked = clamp_to_64_bits(tally.blocked),
                    .preempted = clamp_to_64_bits(tally.preempted)};
  figure.on_cpu_total = clamp_to_64_bits(tally.on_cpu);
  figure.self_total = clamp_to_64_bits(tally.self);
  figure.outside_total = clamp_to_64_bits(tally.outside);
  figure.outermost_on_cpu = clamp_to_64_bits(tally.on_cpu - tally.covered_on_cpu);
  return figure;
}

std::vector<Bucket> buckets_of(const UncertaintyCounts& calls,
                               const UncertaintyCounts& off_cpu_calls) {
  constexpr std::size_t bits = 64;
  std::vector<Bucket> buckets;
  std::size_t used = 0; // of them, up to the last with calls
  for (std::size_t width = 0; width <= bits; ++width) {
    if (buckets.empty() && calls.at(width) == 0) {
      continue;
    }
    buckets.push_back({.low = width == 0 ? 0 : std::uint64_t{1} << (width - 1),
                       .high = width == bits ? most : std::uint64_t{1} << width,
                       .calls = calls.at(width),
                       .off_cpu_calls = off_cpu_calls.at(width)});
    used = calls.at(width) == 0 ? used : buckets.size();
  }
  buckets.resize(used);
  return buckets;
}

std::vector<Bucket> histogram(const stacks::CallTable& calls,
                              std::span<const std::uint32_t> counted) {
  UncertaintyCounts all{};
  UncertaintyCounts off_cpu{};
  for (const std::uint32_t call : counted) {
    const auto width = static_cast<std::size_t>(std::bit_width(calls.latency[call]));
    ++all.at(width);
    off_cpu.at(width) += was_off_cpu(calls, call) ? 1 : 0;
  }
  return buckets_of(all, off_cpu);
}

std::vector<Figures> figures(const stacks::CallTable& calls, std::span<const std::uint32_t> counted,
                             std::span<const std::uint32_t> group, std::size_t groups,
                             const std::vector<std::uint8_t>& covered) {
  std::vector<Tally> tallies(groups);
  std::vector<std::size_t> end(groups + 1, 0); // of each group's latencies, once they are placed
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::uint32_t call = counted[i];
    Tally& tally = tallies[group[i]];
    ++end[group[i] + 1];
    const std::uint64_t on = on_cpu(calls, call);
    tally.add_latency(calls.latency[call]);
    tally.blocked += calls.blocked[call];
    tally.preempted += calls.preempted[call];
    tally.on_cpu += on;
    tally.self += calls.self(call);
    tally.outside += calls.outside[call];
    tally.covered_on_cpu += covered.empty() || covered[call] == 0 ? 0 : on;
    tally.off_cpu_calls += was_off_cpu(calls, call) ? 1 : 0;
    tally.switches += calls.switches[call];
  }
  for (std::size_t i = 0; i < groups; ++i) {
    end[i + 1] += end[i];
  }
  std::vector<std::uint64_t> latencies(counted.size());
  std::vector<std::uint64_t> uncertainties(counted.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::size_t place = end[group[i]]++;
    latencies[place] = calls.latency[counted[i]];
    uncertainties[place] = calls.uncertainty[counted[i]];
  }
  const auto ranks = [](std::span<const cache::Share> shares,
                        std::span<const std::uint64_t> values) {
    cache::Ranks found(shares, values.size());
    found.add(values);
    if (found.aim()) {
      found.add_again(values);
    }
    return found;
  };
  std::vector<Figures> result;
  result.reserve(groups);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    const std::size_t size = end[i] - begin;
    cache::Ranks latency = ranks(percentile_shares, std::span(latencies).subspan(begin, size));
    cache::Ranks uncertainty =
        ranks(uncertainty_share, std::span(uncertainties).subspan(begin, size));
    result.push_back(figures_of(tallies[i], {latency, uncertainty}));
    begin = end[i];
  }
  return result;
}

double cpu_percent(const RecordingInfo& recording, std::uint64_t on_cpu_ns) {
  if (recording.trace_ns <= recording.lost_ns) {
    return 0;
  }
  constexpr double percent = 100;
  return percent * static_cast<double>(on_cpu_ns) /
         static_cast<double>(recording.trace_ns - recording.lost_ns);
}

} // namespace ptlens::measure
