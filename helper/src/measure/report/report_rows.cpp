// Figures are copied to the fields of a report and divided by the number of calls.
#include "measure/report/report_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <tuple>
#include <utility>

namespace ptlens::measure {

using stacks::CallState;

namespace {

// Merges the buckets that the uncertainty does not separate, and lets the first of them begin at 0.
void merge_below(std::vector<Bucket>& histogram, std::uint64_t uncertainty) {
  std::size_t merged = 0;
  while (merged + 1 < histogram.size() && histogram[merged].high < uncertainty) {
    Bucket& next = histogram[++merged];
    next.calls += histogram[merged - 1].calls;
    next.off_cpu_calls += histogram[merged - 1].off_cpu_calls;
  }
  histogram.erase(histogram.begin(), histogram.begin() + static_cast<std::ptrdiff_t>(merged));
  if (!histogram.empty() && histogram.front().low <= uncertainty) {
    histogram.front().low = 0;
  }
  if (!histogram.empty() && histogram.front().high < uncertainty) {
    histogram.front().high = std::bit_ceil(uncertainty);
  }
}

} // namespace

Report function_report(const Measurement& measurement, stacks::FunctionId function,
                       SetFigures set) {
  const Figures& figures = set.figures;
  Report report;
  report.function = function;
  report.complete = set.states[static_cast<std::size_t>(CallState::complete)];
  report.incomplete = set.states[static_cast<std::size_t>(CallState::incomplete)];
  report.unwound = set.states[static_cast<std::size_t>(CallState::unwound)];
  report.latency = figures.latency;
  report.off_cpu = figures.off_cpu;
  report.on_cpu_total = figures.on_cpu_total;
  report.on_cpu_mean = mean_of(figures.on_cpu_total, figures.latency.calls);
  report.outside_total = figures.outside_total;
  report.outside_mean = mean_of(figures.outside_total, figures.latency.calls);
  report.self_total = figures.self_total;
  report.self_mean = mean_of(figures.self_total, figures.latency.calls);
  report.cpu_percent = cpu_percent(measurement.recording, figures.outermost_on_cpu);
  report.histogram = std::move(set.histogram);
  if (report.latency.corrected) {
    // A call's own probes, and two for each call that it makes: half of the uncertainty of two hits
    // is in the latency of the callee as well.
    constexpr double of_self = 1.5;
    // Time in which the thread was preempted while a hit was handled makes latencies uncertain, not
    // time on the CPU: of most calls, the uncertainty is without it.
    const double preempted = mean_of(figures.off_cpu.preempted, figures.latency.calls);
    report.on_cpu_within = std::min(figures.mean_uncertainty,
                                    std::max(figures.mean_uncertainty - preempted,
                                             static_cast<double>(figures.latency.uncertainty)));
    report.self_within = of_self * figures.mean_uncertainty;
    const auto calls = static_cast<double>(figures.latency.calls);
    report.on_cpu_total_within = calls * report.on_cpu_within;
    report.self_total_within = calls * report.self_within;
    halve_below_resolution(report.on_cpu_mean, report.on_cpu_within);
    halve_below_resolution(report.on_cpu_total, report.on_cpu_total_within);
    halve_below_resolution(report.self_mean, report.self_within);
    halve_below_resolution(report.self_total, report.self_total_within);
    merge_below(report.histogram, report.latency.uncertainty);
  }
  report.self_known = measurement.self_known(function);
  return report;
}

RelatedRow related_row(const Measurement& measurement, stacks::FunctionId function,
                       stacks::SiteId site, const Figures& figures) {
  return {.function = function,
          .site = site,
          .latency = figures.latency,
          .off_cpu = figures.off_cpu,
          .cpu_percent = cpu_percent(measurement.recording, figures.outermost_on_cpu)};
}

void order_rows(std::vector<RelatedRow>& rows) {
  std::erase_if(rows, [](const RelatedRow& row) { return row.latency.calls == 0; });
  std::ranges::sort(rows, {}, [](const RelatedRow& row) {
    return std::tuple(~row.latency.total, ~row.latency.calls, row.function, row.site);
  });
}

void order_rows(std::vector<ThreadRow>& rows) {
  std::erase_if(rows, [](const ThreadRow& row) {
    return row.latency.calls == 0 && row.incomplete == 0 && row.unwound == 0;
  });
  std::ranges::sort(rows, {},
                    [](const ThreadRow& row) { return std::pair(~row.latency.calls, row.thread); });
}

} // namespace ptlens::measure
