// Statistics are exact: sums have 128 bits. The variance is computed from the sum of squares about
// the integral part of the mean, so that it loses no digits to cancellation and does not depend on
// the order of the calls.
#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace ptlens::measure {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

FigureErrors errors_of_trace(std::uint64_t uncertainty) {
  return {.mean = static_cast<double>(uncertainty),
          .total = 0,
          .min = uncertainty,
          .max = uncertainty,
          .p50 = uncertainty,
          .p90 = uncertainty,
          .p99 = uncertainty,
          .p999 = uncertainty};
}

void set_errors_of_probes(LatencyStats& latency, const Tally& tally,
                          const cache::TalliedRanks& ranks) {
  const auto& [most_of_p50, most_of_p90, most_of_p99, most_of_p999, most] = ranks.uncertainties;
  latency.corrected = true;
  latency.within = {.mean = mean_of(tally.uncertainty, tally.calls),
                    .total = static_cast<double>(tally.uncertainty),
                    .min = most_of_p50,
                    .max = most,
                    .p50 = most_of_p50,
                    .p90 = most_of_p90,
                    .p99 = most_of_p99,
                    .p999 = most_of_p999};
  FigureErrors& within = latency.within;
  halve_below_resolution(latency.mean, within.mean);
  halve_below_resolution(latency.total, within.total);
  halve_below_resolution(latency.min, within.min);
  halve_below_resolution(latency.max, within.max);
  halve_below_resolution(latency.p50, within.p50);
  halve_below_resolution(latency.p90, within.p90);
  halve_below_resolution(latency.p99, within.p99);
  halve_below_resolution(latency.p999, within.p999);
}

} // namespace

void halve_below_resolution(double& figure, double& within) {
  if (within >= figure) {
    figure = std::max(1.0, (figure + within) / 2);
    within = figure;
  }
}

void halve_below_resolution(std::uint64_t& figure, std::uint64_t& within) {
  if (within >= figure) {
    figure = std::max<std::uint64_t>(1, figure + (within - figure + 1) / 2);
    within = figure;
  }
}

void halve_below_resolution(std::uint64_t& figure, double& within) {
  auto shown = static_cast<double>(figure);
  if (within >= shown) {
    halve_below_resolution(shown, within);
    figure = clamp_to_64_bits(static_cast<WideSum>(std::ceil(shown)));
    within = static_cast<double>(figure);
  }
}

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
  // The sum of the squared distances to the integral part of the mean, modulo 2^128.
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
                      .uncertainty = ranks.uncertainties[1],
                      .within = errors_of_trace(ranks.uncertainties[1])};
    figure.mean_uncertainty = mean_of(tally.uncertainty, tally.calls);
    if (tally.removed != 0) {
      set_errors_of_probes(figure.latency, tally, ranks);
    }
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

std::vector<Bucket> buckets_of(const WidthCounts& calls, const WidthCounts& off_cpu_calls) {
  constexpr std::size_t bits = 64;
  std::vector<Bucket> buckets;
  std::size_t used = 0; // buckets up to the last one with calls
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

double cpu_percent(const RecordingInfo& recording, std::uint64_t on_cpu_ns) {
  if (recording.trace_ns <= recording.lost_ns) {
    return 0;
  }
  constexpr double percent = 100;
  return percent * static_cast<double>(on_cpu_ns) /
         static_cast<double>(recording.trace_ns - recording.lost_ns);
}

} // namespace ptlens::measure
