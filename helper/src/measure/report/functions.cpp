// The table of all functions is made from the sums in the cache, without reading a call.
#include "measure/report/report.hpp"
#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace ptlens::measure {

std::vector<FunctionRow> functions(const Measurement& measurement) {
  const cache::CallCache& cache = *measurement.cache;
  std::vector<FunctionRow> rows;
  for (const stacks::FunctionId function : first_ids<stacks::FunctionId>(cache.function_count())) {
    const cache::FunctionSums& sums = cache.sums(function);
    const auto calls = [&](stacks::CallState state) {
      return sums.calls.at(static_cast<std::size_t>(state));
    };
    FunctionRow row{
        .function = function,
        .complete = calls(stacks::CallState::complete),
        .incomplete = calls(stacks::CallState::incomplete),
        .unwound = calls(stacks::CallState::unwound),
        .mean = mean_of(cache::wide(sums.complete_latency), calls(stacks::CallState::complete)),
        .inclusive = clamp_to_64_bits(cache::wide(sums.inclusive)),
        .self = clamp_to_64_bits(cache::wide(sums.self)),
        .off_cpu = clamp_to_64_bits(cache::wide(sums.off_cpu))};
    row.self_known = measurement.self_known(function);
    row.self_at_most = measurement.is_self_at_most(function);
    if (measurement.is_corrected() && row.complete > 0) {
      const std::uint64_t uncertainty = clamp_to_64_bits(cache::wide(sums.uncertainty));
      row.mean_within = static_cast<double>(uncertainty) / static_cast<double>(row.complete);
      row.inclusive_within = uncertainty;
      row.self_within = uncertainty + uncertainty / 2; // see function_report()
      halve_below_resolution(row.mean, row.mean_within);
      halve_below_resolution(row.inclusive, row.inclusive_within);
      halve_below_resolution(row.self, row.self_within);
    }
    if (row.complete + row.incomplete + row.unwound > 0) {
      rows.push_back(row);
    }
  }
  std::ranges::sort(rows, [&](const FunctionRow& one, const FunctionRow& other) {
    const auto key = [&](const FunctionRow& row) {
      const stacks::FunctionInfo& function = measurement.functions[row.function];
      return std::tuple(~row.inclusive, std::string_view(function.name),
                        std::string_view(function.binary), function.address, row.function);
    };
    return key(one) < key(other);
  });
  return rows;
}

} // namespace ptlens::measure
