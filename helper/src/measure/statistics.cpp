// Exact statistics: percentiles by selection (Hoare's quickselect, std::nth_element), sums in 128
// bits, the variance by two passes with the correction of Chan, Golub and LeVeque (1983).
#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace ptlens::measure {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

double population_stddev(std::span<const std::uint64_t> values, std::uint64_t least, WideSum sum) {
  const auto count = static_cast<double>(values.size());
  const WideSum above_least = sum - static_cast<WideSum>(least) * values.size();
  const double mean = static_cast<double>(above_least) / count;
  double squares = 0;
  double residue = 0;
  for (const std::uint64_t value : values) {
    const double deviation = static_cast<double>(value - least) - mean;
    squares += deviation * deviation;
    residue += deviation;
  }
  return std::sqrt(std::max(0.0, squares - residue * residue / count) / count);
}

void set_percentiles(std::span<std::uint64_t> values, LatencyStats& stats) {
  struct Percentile {
    std::uint64_t per_mille;
    std::uint64_t* value;
  };
  constexpr std::uint64_t whole = 1000;
  const std::array percentiles = {Percentile{500, &stats.p50}, Percentile{900, &stats.p90},
                                  Percentile{990, &stats.p99}, Percentile{999, &stats.p999}};
  auto unordered = values.begin(); // everything before is no greater than what follows
  for (const Percentile& percentile : percentiles) {
    const std::uint64_t rank = (values.size() * percentile.per_mille + whole - 1) / whole;
    const auto wanted = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    if (wanted >= unordered) {
      std::nth_element(unordered, wanted, values.end());
      unordered = wanted + 1;
    }
    *percentile.value = *wanted;
  }
}

std::uint32_t percentile_95(std::span<std::uint32_t> values) {
  if (values.empty()) {
    return 0;
  }
  const auto rank = static_cast<std::ptrdiff_t>((values.size() * 19 + 19) / 20 - 1);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

struct Sums {
  WideSum blocked = 0;
  WideSum preempted = 0;
  WideSum on_cpu = 0;
  WideSum self = 0;
  WideSum outside = 0;
  WideSum outermost_on_cpu = 0;
  std::uint64_t off_cpu_calls = 0;
  std::uint64_t switches = 0;
};

} // namespace

std::uint64_t clamp_to_64_bits(WideSum sum) {
  return sum > most ? most : static_cast<std::uint64_t>(sum);
}

double mean_of(WideSum sum, std::uint64_t calls) {
  return calls == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(calls);
}

LatencyStats latency_stats(std::span<std::uint64_t> latencies) {
  LatencyStats stats;
  if (latencies.empty()) {
    return stats;
  }
  WideSum sum = 0;
  stats.min = most;
  for (const std::uint64_t latency : latencies) {
    sum += latency;
    stats.min = std::min(stats.min, latency);
    stats.max = std::max(stats.max, latency);
  }
  stats.calls = latencies.size();
  stats.total = clamp_to_64_bits(sum);
  stats.mean = mean_of(sum, stats.calls);
  stats.stddev = population_stddev(latencies, stats.min, sum);
  set_percentiles(latencies, stats);
  return stats;
}

std::vector<Bucket> histogram(const stacks::CallTable& calls,
                              std::span<const std::uint32_t> counted) {
  constexpr int bits = 64;
  std::array<Bucket, bits + 1> all{};
  for (int width = 0; width <= bits; ++width) { // of the values in the bucket
    Bucket& bucket = all.at(static_cast<std::size_t>(width));
    bucket.low = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
    bucket.high = width == bits ? most : std::uint64_t{1} << width;
  }
  for (const std::uint32_t call : counted) {
    Bucket& bucket = all.at(static_cast<std::size_t>(std::bit_width(calls.latency[call])));
    ++bucket.calls;
    bucket.off_cpu_calls += was_off_cpu(calls, call) ? 1 : 0;
  }
  const auto used = [](const Bucket& bucket) { return bucket.calls > 0; };
  const auto* const first = std::ranges::find_if(all, used);
  const auto* last = all.end();
  while (last != first && !used(*(last - 1))) {
    --last;
  }
  return {first, last};
}

std::vector<Figures> figures(const stacks::CallTable& calls, std::span<const std::uint32_t> counted,
                             std::span<const std::uint32_t> group, std::size_t groups,
                             const std::vector<std::uint8_t>& covered) {
  std::vector<Sums> sums(groups);
  std::vector<std::size_t> end(groups + 1, 0); // of each group's latencies, once they are placed
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::uint32_t call = counted[i];
    Sums& sum = sums[group[i]];
    ++end[group[i] + 1];
    const std::uint64_t on = on_cpu(calls, call);
    sum.blocked += calls.blocked[call];
    sum.preempted += calls.preempted[call];
    sum.on_cpu += on;
    sum.self += calls.self(call);
    sum.outside += calls.outside[call];
    sum.outermost_on_cpu += covered.empty() || covered[call] == 0 ? on : 0;
    sum.off_cpu_calls += was_off_cpu(calls, call) ? 1 : 0;
    sum.switches += calls.switches[call];
  }
  for (std::size_t i = 0; i < groups; ++i) {
    end[i + 1] += end[i];
  }
  std::vector<std::uint64_t> latencies(counted.size());
  std::vector<std::uint32_t> resolutions(counted.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const std::size_t place = end[group[i]]++;
    latencies[place] = calls.latency[counted[i]];
    resolutions[place] = calls.resolution[counted[i]];
  }

  std::vector<Figures> result(groups);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < groups; ++i) {
    const Sums& sum = sums[i];
    Figures& figure = result[i];
    figure.latency = latency_stats(std::span(latencies).subspan(begin, end[i] - begin));
    figure.latency.resolution =
        percentile_95(std::span(resolutions).subspan(begin, end[i] - begin));
    begin = end[i];
    const WideSum off = sum.blocked + sum.preempted;
    figure.off_cpu = {.mean = mean_of(off, figure.latency.calls),
                      .total = clamp_to_64_bits(off),
                      .calls = sum.off_cpu_calls,
                      .switches = sum.switches,
                      .blocked = clamp_to_64_bits(sum.blocked),
                      .preempted = clamp_to_64_bits(sum.preempted)};
    figure.on_cpu_total = clamp_to_64_bits(sum.on_cpu);
    figure.self_total = clamp_to_64_bits(sum.self);
    figure.outside_total = clamp_to_64_bits(sum.outside);
    figure.outermost_on_cpu = clamp_to_64_bits(sum.outermost_on_cpu);
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
