// Each function is one set of edges.
#include "measure/report/function_figures.hpp"

#include "base/cancellation.hpp"
#include "measure/report/report_rows.hpp"
#include "measure/statistics/covered_time.hpp"
#include "measure/statistics/edge_figures.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptlens::measure {

std::vector<Report> function_figures(const Measurement& measurement,
                                     std::span<const stacks::FunctionId> functions) {
  const cache::CallCache& cache = *measurement.cache;
  const auto count = static_cast<std::uint32_t>(functions.size());
  std::vector<cache::EdgeId> edges;
  std::vector<EdgeCalls> calls;
  for (std::uint32_t set = 0; set < count; ++set) {
    for (const cache::EdgeId edge : cache.edges_to(functions[set])) {
      edges.push_back(edge);
      calls.push_back({.edge = edge, .set = set});
    }
  }
  EdgeFigures figures(cache, {}, {.count = count, .with_histogram = count});
  for (const CoveredTime& covered : covered_times(cache, {}, edges)) {
    figures.cover(calls[covered.at], covered.thread, covered.on_cpu);
  }
  std::vector<SetFigures> sets = figures.read(calls);
  std::vector<Report> reports;
  for (std::uint32_t set = 0; set < count; ++set) {
    const auto& states = sets[set].states;
    if (states[0] + states[1] + states[2] != 0) {
      reports.push_back(function_report(measurement, functions[set], std::move(sets[set])));
    }
  }
  return reports;
}

std::vector<Report> all_function_figures(const Measurement& measurement) {
  constexpr std::size_t functions_per_batch = 256; // bounds the memory that percentiles take
  std::vector<stacks::FunctionId> called;
  for (const FunctionRow& row : functions(measurement)) {
    called.push_back(row.function);
  }
  std::ranges::sort(called);
  std::vector<Report> reports;
  std::span<const stacks::FunctionId> left(called);
  while (!left.empty() && !cancel_asked()) {
    const std::size_t count = std::min(left.size(), functions_per_batch);
    std::vector<Report> more = function_figures(measurement, left.first(count));
    std::ranges::move(more, std::back_inserter(reports));
    left = left.subspan(count);
  }
  return reports;
}

} // namespace ptlens::measure
