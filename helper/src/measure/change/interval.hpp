// Confidence intervals of quantiles by order statistics (Hahn, Meeker and Escobar, "Statistical
// Intervals", 2nd edition, section 5.2), and of differences between two runs: for quantiles the
// larger one of the normal interval and of MOVER (Zou and Donner, "Construction of confidence
// limits about effect measures", 2008), which needs no symmetry and allows equal values; for means
// Welch's (1947).
#pragma once

#include "measure/change/change.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ptlens::measure {

inline constexpr double errors_of_95 = 1.96; // standard errors
inline constexpr double p50_share = 0.5;
inline constexpr double p99_share = 0.99;

// Returns the values at the ranks nq ± 1.96 √(nq(1 − q)), rounded outwards. `ascending` is not
// empty.
[[nodiscard]] ConfidenceInterval quantile_interval(std::span<const std::uint64_t> ascending,
                                                   double quantile);

// Returns the nearest rank of the quantile among so many values, from 0.
[[nodiscard]] std::size_t nearest_rank(std::size_t count, double quantile);

// Returns the interval of the difference between two quantiles.
[[nodiscard]] ConfidenceInterval quantile_difference(double base,
                                                     const ConfidenceInterval& base_interval,
                                                     double now,
                                                     const ConfidenceInterval& now_interval);

// Returns the interval of the difference between two means. It is one of 97.5 %, not 95 %: a mean
// is judged beside two quantiles, and one figure of three should not be wrong more often than one
// of one.
[[nodiscard]] ConfidenceInterval mean_difference(const LatencyStats& base, const LatencyStats& now);

// Returns how many standard errors contain as much of Student's distribution as `normal` standard
// errors of the normal distribution (Abramowitz and Stegun, 26.7.5).
[[nodiscard]] double student(double normal, double degrees_of_freedom);

} // namespace ptlens::measure
