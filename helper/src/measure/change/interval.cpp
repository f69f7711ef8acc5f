#include "measure/change/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ptlens::measure {
namespace {

constexpr double errors_of_97 = 2.2414;

double variance_of_mean(const LatencyStats& stats) {
  // `stddev` is that of the population.
  return stats.stddev * stats.stddev / static_cast<double>(stats.calls - 1);
}

} // namespace

std::size_t nearest_rank(std::size_t count, double quantile) {
  const double rank = std::ceil(static_cast<double>(count) * quantile - 1e-6);
  return std::min(static_cast<std::size_t>(std::max(rank, 1.0)), count) - 1;
}

ConfidenceInterval quantile_interval(std::span<const std::uint64_t> ascending, double quantile) {
  const auto count = static_cast<double>(ascending.size());
  const double middle = count * quantile;
  const double half = errors_of_95 * std::sqrt(middle * (1 - quantile));
  const auto at = [&](double rank) {
    const auto index = static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1;
    return static_cast<double>(ascending[index]);
  };
  return {.low = at(std::floor(middle - half)), .high = at(std::ceil(middle + half))};
}

ConfidenceInterval quantile_difference(double base, const ConfidenceInterval& base_interval,
                                       double now, const ConfidenceInterval& now_interval) {
  const auto error = [](const ConfidenceInterval& interval) {
    return (interval.high - interval.low) / (2 * errors_of_95);
  };
  const double normal = errors_of_95 * std::hypot(error(base_interval), error(now_interval));
  const double down = std::hypot(now - now_interval.low, base_interval.high - base);
  const double up = std::hypot(now_interval.high - now, base - base_interval.low);
  return {.low = now - base - std::max(normal, down), .high = now - base + std::max(normal, up)};
}

double student(double normal, double degrees_of_freedom) {
  const double square = normal * normal;
  const double once = degrees_of_freedom;
  return normal *
         (1 + (square + 1) / (4 * once) + ((5 * square + 16) * square + 3) / (96 * once * once) +
          (((3 * square + 19) * square + 17) * square - 15) / (384 * once * once * once));
}

ConfidenceInterval mean_difference(const LatencyStats& base, const LatencyStats& now) {
  const double base_variance = variance_of_mean(base);
  const double now_variance = variance_of_mean(now);
  const double variance = base_variance + now_variance;
  const double change = now.mean - base.mean;
  if (variance == 0) {
    return {.low = change, .high = change};
  }
  const double freedom = variance * variance /
                         (base_variance * base_variance / static_cast<double>(base.calls - 1) +
                          now_variance * now_variance / static_cast<double>(now.calls - 1));
  const double half = student(errors_of_97, freedom) * std::sqrt(variance);
  return {.low = change - half, .high = change + half};
}

} // namespace ptlens::measure
