// Figures are copied to the fields of a report and divided by the number of calls.
#include "measure/report/report_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ptlens::measure {

using stacks::CallState;

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
  report.on_cpu_mean = mean_of(figures.on_cpu_total, report.complete);
  report.outside_total = figures.outside_total;
  report.outside_mean = mean_of(figures.outside_total, report.complete);
  report.self_total = figures.self_total;
  report.self_mean = mean_of(figures.self_total, report.complete);
  report.cpu_percent = cpu_percent(measurement.recording, figures.outermost_on_cpu);
  report.histogram = std::move(set.histogram);
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
