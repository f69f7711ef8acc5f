// The difference between several runs and several others: the hierarchical bootstrap over runs and
// then calls (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013). Equal
// input gives equal results.
#pragma once

#include "measure/change/change.hpp"

#include <optional>
#include <span>

namespace ptlens::measure {

enum class Figure { mean, p50, p99 };

// Returns the figure of one run, ns.
[[nodiscard]] double figure_of(const RunOfCalls& run, Figure figure);

// Returns the interval of the difference between the mean figures of the runs. Each side has at
// least one run with calls, and one side has several. The calls of a run are drawn by their effect:
// the mean of the drawn calls is normal, and the rank of their quantile binomial. The bootstrap of
// few runs is too narrow; the interval is widened by √(k ÷ (k − 1)) and Student's quantile
// (Hesterberg, "What teachers should know about the bootstrap", 2015).
[[nodiscard]] ConfidenceInterval bootstrap_difference(std::span<const RunOfCalls> base,
                                                      std::span<const RunOfCalls> now,
                                                      Figure figure);

} // namespace ptlens::measure
