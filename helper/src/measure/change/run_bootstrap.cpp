#include "measure/change/run_bootstrap.hpp"

#include "measure/change/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace ptlens::measure {
namespace {

constexpr std::size_t run_resamples = 1000;
constexpr std::uint64_t run_seed = 1;

class Draws {
public:
  // Returns the mean figure of as many runs as there are, each drawn with replacement.
  double side(std::span<const RunOfCalls> runs, Figure figure) {
    std::uniform_int_distribution<std::size_t> index(0, runs.size() - 1);
    double sum = 0;
    for (std::size_t drawn = 0; drawn < runs.size(); ++drawn) {
      sum += run(runs[index(random_)], figure);
    }
    return sum / static_cast<double>(runs.size());
  }

private:
  double run(const RunOfCalls& run, Figure figure) {
    const auto calls = static_cast<double>(run.latency.calls);
    if (figure == Figure::mean) {
      return run.latency.mean + normal_(random_) * run.latency.stddev / std::sqrt(calls);
    }
    const double share = figure == Figure::p50 ? p50_share : p99_share;
    const double drawn = share + normal_(random_) * std::sqrt(share * (1 - share) / calls);
    return static_cast<double>(
        run.latencies[nearest_rank(run.latencies.size(), std::clamp(drawn, 0.0, 1.0))]);
  }

  std::mt19937_64 random_{run_seed}; // NOLINT(cert-msc51-cpp): equal input, equal result
  std::normal_distribution<double> normal_;
};

double mean_figure(std::span<const RunOfCalls> runs, Figure figure) {
  double sum = 0;
  for (const RunOfCalls& run : runs) {
    sum += figure_of(run, figure);
  }
  return sum / static_cast<double>(runs.size());
}

// Returns by how much the interval must be wider.
double widening(std::size_t base_runs, std::size_t now_runs) {
  const std::size_t fewest =
      base_runs < 2 || now_runs < 2 ? std::max(base_runs, now_runs) : std::min(base_runs, now_runs);
  const auto runs = static_cast<double>(fewest);
  const auto freedom = static_cast<double>(base_runs + now_runs - 2);
  return std::sqrt(runs / (runs - 1)) * student(errors_of_95, freedom) / errors_of_95;
}

} // namespace

double figure_of(const RunOfCalls& run, Figure figure) {
  switch (figure) {
  case Figure::mean:
    return run.latency.mean;
  case Figure::p50:
    return static_cast<double>(run.latency.p50);
  case Figure::p99:
    break;
  }
  return static_cast<double>(run.latency.p99);
}

ConfidenceInterval bootstrap_difference(std::span<const RunOfCalls> base,
                                        std::span<const RunOfCalls> now, Figure figure) {
  Draws draws;
  std::vector<double> differences;
  for (std::size_t count = 0; count < run_resamples; ++count) {
    const double drawn_base = draws.side(base, figure);
    differences.push_back(draws.side(now, figure) - drawn_base);
  }
  std::ranges::sort(differences);
  constexpr double tail = 0.025;
  const double change = mean_figure(now, figure) - mean_figure(base, figure);
  const double wider = widening(base.size(), now.size());
  const double low = differences[nearest_rank(run_resamples, tail)];
  const double high = differences[nearest_rank(run_resamples, 1 - tail)];
  return {.low = change + std::min(low - change, 0.0) * wider,
          .high = change + std::max(high - change, 0.0) * wider};
}

} // namespace ptlens::measure
