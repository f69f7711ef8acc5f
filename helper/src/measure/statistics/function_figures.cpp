// One pass over the calls sorts them by function.
#include "measure/statistics/function_figures.hpp"

#include "base/cancellation.hpp"
#include "measure/report/function_report.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/statistics/call_tree.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptlens::measure {
namespace {

using stacks::CallState;

constexpr std::uint32_t no_row = stacks::no_call;
constexpr std::uint64_t calls_at_a_time = 4'000'000;

CallSubset part_of(const Measurement& measurement, const std::vector<std::uint32_t>& functions) {
  CallsNeeded needs(measurement);
  for (const std::uint32_t function : functions) {
    needs.calls_of(function);
  }
  return needs.gather();
}

} // namespace

std::vector<Report> function_figures(const Measurement& measurement, const stacks::CallTable& table,
                                     const std::vector<std::uint32_t>& functions) {
  std::vector<std::uint32_t> row(measurement.functions.size(), no_row);
  for (std::size_t index = 0; index < functions.size(); ++index) {
    row[functions[index]] = static_cast<std::uint32_t>(index);
  }
  std::vector<std::vector<std::uint32_t>> calls(functions.size());
  std::vector<std::uint32_t> complete; // of all of them
  for (std::size_t call = 0; call < table.size(); ++call) {
    if (const std::uint32_t at = row[table.function[call]]; at != no_row) {
      calls[at].push_back(static_cast<std::uint32_t>(call));
      if (table.state[call] == CallState::complete) {
        complete.push_back(static_cast<std::uint32_t>(call));
      }
    }
  }
  const std::vector<std::uint8_t> covered =
      covered_calls(table, complete, measurement.functions.size());
  std::vector<Report> reports;
  for (std::size_t index = 0; index < functions.size(); ++index) {
    if (!calls[index].empty()) {
      reports.push_back(function_report(measurement, table, functions[index], calls[index],
                                        complete_calls(table, calls[index]), covered));
    }
  }
  return reports;
}

std::vector<Report> function_figures(const Measurement& measurement,
                                     const std::vector<std::uint32_t>& functions) {
  const CallSubset part = part_of(measurement, functions);
  return function_figures(measurement, part.calls(), functions);
}

std::vector<Report> all_function_figures(const Measurement& measurement) {
  std::vector<std::uint64_t> calls(measurement.functions.size(), 0);
  for (const FunctionRow& row : functions(measurement)) {
    if (row.function < calls.size()) {
      calls[row.function] = row.complete + row.incomplete + row.unwound;
    }
  }
  std::vector<Report> reports;
  std::vector<std::uint32_t> batch;
  std::uint64_t in_batch = 0;
  const auto flush = [&] {
    std::vector<Report> more = function_figures(measurement, batch);
    std::ranges::move(more, std::back_inserter(reports));
    batch.clear();
    in_batch = 0;
  };
  for (std::uint32_t function = 0; function < calls.size() && !cancel_asked(); ++function) {
    if (calls[function] == 0) {
      continue;
    }
    if (!batch.empty() && in_batch + calls[function] > calls_at_a_time) {
      flush();
    }
    batch.push_back(function);
    in_batch += calls[function];
  }
  if (!batch.empty()) {
    flush();
  }
  return reports;
}

} // namespace ptlens::measure
