#include "measure/change/file_runs.hpp"

#include "measure/change/difference.hpp"

#include <vector>

namespace ptlens::measure {

FileRuns file_runs(const Measurement& measurement, const FileLines& lines) {
  FileRuns runs;
  for (const FileFunction& function : lines.functions) {
    const auto edges = measurement.cache->edges_to(function.function);
    runs.functions.emplace(function.function,
                           run_of_calls(measurement, std::vector(edges.begin(), edges.end()),
                                        function.report.latency));
  }
  for (const LineRow& row : lines.lines) {
    runs.lines.emplace(row.line, run_of_calls(measurement, row.edges, row.latency));
  }
  return runs;
}

} // namespace ptlens::measure
