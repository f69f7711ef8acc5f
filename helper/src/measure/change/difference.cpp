// Verdicts on the differences between two sets of runs.
#include "measure/change/difference.hpp"

#include "cache/reading/block_reader.hpp"
#include "measure/change/interval.hpp"
#include "measure/change/run_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ptlens::measure {
namespace {

using Runs = std::span<const RunOfCalls>;

double uncertainty_of(const RunOfCalls& run, Figure figure) {
  const FigureErrors& within = run.latency.within;
  switch (figure) {
  case Figure::mean:
    return within.mean;
  case Figure::p50:
    return static_cast<double>(within.p50);
  case Figure::p99:
    break;
  }
  return static_cast<double>(within.p99);
}

struct SideFigure {
  double value = 0;                                                 // mean of the runs
  double uncertainty = 0;                                           // the largest one
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max(); // calls of a run
};

SideFigure side_figure(Runs runs, Figure figure) {
  SideFigure side;
  for (const RunOfCalls& run : runs) {
    side.value += figure_of(run, figure) / static_cast<double>(runs.size());
    side.uncertainty = std::max(side.uncertainty, uncertainty_of(run, figure));
    side.fewest = std::min(side.fewest, run.latency.calls);
  }
  side.fewest = runs.empty() ? 0 : side.fewest;
  return side;
}

ConfidenceInterval interval_of(Runs base, Runs now, Figure figure) {
  if (base.size() > 1 || now.size() > 1) {
    return bootstrap_difference(base, now, figure);
  }
  const RunOfCalls& one = base.front();
  const RunOfCalls& other = now.front();
  switch (figure) {
  case Figure::mean:
    return mean_difference(one.latency, other.latency);
  case Figure::p50:
    return quantile_difference(figure_of(one, figure), one.p50, figure_of(other, figure),
                               other.p50);
  case Figure::p99:
    break;
  }
  return quantile_difference(figure_of(one, figure), one.p99, figure_of(other, figure), other.p99);
}

Verdict verdict_of(const Change& change) {
  const double allowed = practical_percent / 100 * change.base;
  if (change.ns.low >= -allowed && change.ns.high <= allowed) {
    return Verdict::no_change;
  }
  if (change.ns.low > 0) {
    return Verdict::slower;
  }
  return change.ns.high < 0 ? Verdict::faster : Verdict::cannot_tell;
}

Change change_of(Runs base, Runs now, Figure figure, bool timed) {
  const SideFigure before = side_figure(base, figure);
  const SideFigure after = side_figure(now, figure);
  Change change{.base = before.value, .now = after.value, .ns = {}};
  const double difference = change.difference();
  change.ns = {.low = difference, .high = difference};
  if (!timed) {
    change.reason = Reason::no_timing;
    return change;
  }
  const std::uint64_t fewest = figure == Figure::p99 ? fewest_for_p99 : fewest_for_mean;
  if (std::min(before.fewest, after.fewest) < fewest) {
    change.reason = Reason::few_calls;
    return change;
  }
  const ConfidenceInterval interval = interval_of(base, now, figure);
  const double uncertainty = before.uncertainty + after.uncertainty;
  change.ns = {.low = std::min(interval.low, difference - uncertainty),
               .high = std::max(interval.high, difference + uncertainty)};
  change.verdict = verdict_of(change);
  return change;
}

} // namespace

RunOfCalls run_of_calls(const Measurement& measurement, std::span<const cache::EdgeId> edges,
                        const LatencyStats& latency, bool several) {
  RunOfCalls run{.latency = latency, .p50 = {}, .p99 = {}};
  run.latencies.reserve(latency.calls);
  cache::BlockReader reader(*measurement.cache, {});
  for (const cache::EdgeId edge : edges) {
    for (const cache::BlockEntry& entry : measurement.cache->blocks(edge)) {
      if (reader.read(entry, cache::BlockReader::Columns::ranked)) {
        run.latencies.insert(run.latencies.end(), reader.latencies().begin(),
                             reader.latencies().end());
      }
    }
  }
  std::ranges::sort(run.latencies);
  if (!run.latencies.empty()) {
    run.p50 = quantile_interval(run.latencies, p50_share);
    run.p99 = quantile_interval(run.latencies, p99_share);
  }
  if (!several) {
    run.latencies = {};
  }
  return run;
}

Difference difference(Runs base, Runs now, bool timed) {
  return {.mean = change_of(base, now, Figure::mean, timed),
          .p50 = change_of(base, now, Figure::p50, timed),
          .p99 = change_of(base, now, Figure::p99, timed),
          .one_run = base.size() < 2 || now.size() < 2};
}

Difference difference(const RunOfCalls& base, const RunOfCalls& now, bool timed) {
  return difference(Runs(&base, 1), Runs(&now, 1), timed);
}

} // namespace ptlens::measure
