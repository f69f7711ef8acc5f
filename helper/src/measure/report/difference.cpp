// Two recordings are compared function by function.
#include "measure/report/difference.hpp"

#include "measure/report/function_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace ptlens::measure {
namespace {

constexpr double errors_allowed = 2; // standard errors: nineteen of twenty means are within them

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

double variance_of_mean(const LatencyStats& stats) {
  return stats.stddev * stats.stddev / static_cast<double>(stats.calls);
}

using Key = std::pair<std::string_view, std::string_view>; // name, file name of the binary

Key key_of(const stacks::FunctionInfo& function) {
  return {function.name, file_name(function.binary)};
}

// Returns all functions by name and binary.
std::multimap<Key, stacks::FunctionId> functions_by_key(const Measurement& measurement) {
  std::multimap<Key, stacks::FunctionId> found;
  for (const stacks::FunctionId index : measurement.functions.ids()) {
    found.emplace(key_of(measurement.functions[index]), index);
  }
  return found;
}

stacks::FunctionId same_function(const Measurement& base,
                                 const std::multimap<Key, stacks::FunctionId>& base_functions,
                                 const stacks::FunctionInfo& function) {
  const auto [first, last] = base_functions.equal_range(key_of(function));
  if (first == last) {
    return stacks::FunctionId::none;
  }
  if (std::next(first) == last) {
    return first->second;
  }
  stacks::FunctionId found = stacks::FunctionId::none;
  for (auto at = first; at != last; ++at) {
    if (file_name(base.functions[at->second].file) == file_name(function.file)) {
      if (found != stacks::FunctionId::none) {
        return stacks::FunctionId::none;
      }
      found = at->second;
    }
  }
  return found;
}

double change_of_total(const FunctionDifference& pair) {
  return std::abs(static_cast<double>(pair.now.latency.total) -
                  static_cast<double>(pair.base.latency.total));
}

bool timed(const Measurement& base, const Measurement& now) {
  return base.recording.uncertainty_ns && now.recording.uncertainty_ns;
}

} // namespace

Difference difference(const LatencyStats& base, const LatencyStats& now, bool timed) {
  Difference result;
  if (!timed) {
    return result;
  }
  result.mean = now.mean - base.mean;
  result.mean_percent = base.mean > 0 ? 100 * result.mean / base.mean : 0;
  result.p99 = static_cast<double>(now.p99) - static_cast<double>(base.p99);
  const std::uint64_t fewest = std::min(base.calls, now.calls);
  if (fewest < fewest_for_mean) {
    result.mean_verdict = Verdict::few_calls;
  } else {
    const double scatter =
        errors_allowed * std::sqrt(variance_of_mean(base) + variance_of_mean(now));
    result.mean_within = std::max(base.within.mean + now.within.mean, scatter);
    result.mean_verdict =
        std::abs(result.mean) > result.mean_within ? Verdict::changed : Verdict::unchanged;
  }
  if (fewest < fewest_for_p99) {
    result.p99_verdict = Verdict::few_calls;
  } else {
    result.p99_verdict =
        std::abs(result.p99) > static_cast<double>(base.within.p99 + now.within.p99)
            ? Verdict::changed
            : Verdict::unchanged;
  }
  return result;
}

stacks::FunctionId same_function(const Measurement& base, const Measurement& now,
                                 stacks::FunctionId function) {
  if (!now.functions.has(function)) {
    return stacks::FunctionId::none;
  }
  return same_function(base, functions_by_key(base), now.functions[function]);
}

FunctionDifference differences_of(const Measurement& base, stacks::FunctionId base_function,
                                  const Measurement& now, stacks::FunctionId now_function) {
  FunctionDifference pair;
  for (auto& [measurement, function, report] :
       {std::tuple(&base, base_function, &pair.base), std::tuple(&now, now_function, &pair.now)}) {
    auto reports = function_figures(*measurement, std::array{function});
    if (!reports.empty()) {
      *report = std::move(reports.front());
    }
    report->function = function;
  }
  pair.difference = difference(pair.base.latency, pair.now.latency, timed(base, now));
  return pair;
}

RecordingDifference differences(const Measurement& base, const Measurement& now) {
  const auto base_functions = functions_by_key(base);
  std::map<stacks::FunctionId, Report> base_reports;
  for (Report& report : all_function_figures(base)) {
    const stacks::FunctionId function = report.function;
    base_reports.emplace(function, std::move(report));
  }
  RecordingDifference result;
  for (Report& report : all_function_figures(now)) {
    const auto same =
        base_reports.find(same_function(base, base_functions, now.functions[report.function]));
    if (same == base_reports.end()) {
      result.only_now.push_back(std::move(report));
      continue;
    }
    FunctionDifference pair{
        .base = std::move(same->second), .now = std::move(report), .difference = {}};
    base_reports.erase(same);
    pair.difference = difference(pair.base.latency, pair.now.latency, timed(base, now));
    result.both.push_back(std::move(pair));
  }
  for (auto& [function, report] : base_reports) {
    result.only_base.push_back(std::move(report));
  }
  std::ranges::stable_sort(result.both, std::ranges::greater(), change_of_total);
  const auto total = [](const Report& report) { return report.latency.total; };
  std::ranges::stable_sort(result.only_base, std::ranges::greater(), total);
  std::ranges::stable_sort(result.only_now, std::ranges::greater(), total);
  return result;
}

} // namespace ptlens::measure
