// Functions of different recordings are paired by name, binary and source file.
#include "measure/change/recordings.hpp"

#include "measure/change/difference.hpp"
#include "measure/report/function_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace ptlens::measure {
namespace {

using stacks::FunctionId;

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

using Key = std::pair<std::string_view, std::string_view>; // name, file name of the binary
using FunctionsByKey = std::multimap<Key, FunctionId>;

Key key_of(const stacks::FunctionInfo& function) {
  return {function.name, file_name(function.binary)};
}

FunctionsByKey functions_by_key(const Measurement& measurement) {
  FunctionsByKey found;
  for (const FunctionId index : measurement.functions.ids()) {
    found.emplace(key_of(measurement.functions[index]), index);
  }
  return found;
}

FunctionId find_same(const Measurement& base, const FunctionsByKey& base_functions,
                     const stacks::FunctionInfo& function) {
  const auto [first, last] = base_functions.equal_range(key_of(function));
  if (first == last) {
    return FunctionId::none;
  }
  if (std::next(first) == last) {
    return first->second;
  }
  FunctionId found = FunctionId::none;
  for (auto at = first; at != last; ++at) {
    if (file_name(base.functions[at->second].file) == file_name(function.file)) {
      if (found != FunctionId::none) {
        return FunctionId::none;
      }
      found = at->second;
    }
  }
  return found;
}

double total(const std::vector<Report>& reports) {
  double sum = 0;
  for (const Report& report : reports) {
    sum += static_cast<double>(report.latency.total);
  }
  return reports.empty() ? 0 : sum / static_cast<double>(reports.size());
}

double change_of_total(const FunctionChange& change) {
  return std::abs(total(change.now) - total(change.base));
}

// The functions of all recordings, in the order in which their reports were added.
class Pairs {
public:
  Pairs(Recordings base, Recordings now) : base_(base), now_(now) {}

  // Adds the reports of a recording of `now` or of the base.
  void add(const Measurement& recording, std::vector<Report> reports, bool is_now) {
    std::map<FunctionId, std::size_t> known;
    const FunctionsByKey functions = functions_by_key(recording);
    for (std::size_t at = 0; at < changes_.size(); ++at) {
      const FunctionChange& change = changes_[at];
      const FunctionId same =
          find_same(recording, functions, change.measurement->functions[change.function]);
      if (same != FunctionId::none) {
        known.emplace(same, at);
      }
    }
    for (Report& report : reports) {
      const auto [at, added] = known.try_emplace(report.function, changes_.size());
      if (added) {
        changes_.push_back({.measurement = &recording,
                            .function = report.function,
                            .base = {},
                            .now = {},
                            .difference = {}});
        runs_.emplace_back();
      }
      Runs& runs = runs_[at->second];
      (is_now ? runs.now : runs.base).emplace_back(&recording, report.function);
      FunctionChange& change = changes_[at->second];
      (is_now ? change.now : change.base).push_back(std::move(report));
    }
  }

  [[nodiscard]] RecordingDifference finish() {
    RecordingDifference result;
    for (std::size_t at = 0; at < changes_.size(); ++at) {
      FunctionChange& change = changes_[at];
      if (change.base.empty()) {
        result.only_now.push_back(std::move(change));
      } else if (change.now.empty()) {
        result.only_base.push_back(std::move(change));
      } else {
        change.difference = difference(calls_of(runs_[at].base, change.base),
                                       calls_of(runs_[at].now, change.now), timed());
        result.both.push_back(std::move(change));
      }
    }
    std::ranges::stable_sort(result.both, std::ranges::greater(), change_of_total);
    std::ranges::stable_sort(result.only_base, std::ranges::greater(),
                             [](const FunctionChange& change) { return total(change.base); });
    std::ranges::stable_sort(result.only_now, std::ranges::greater(),
                             [](const FunctionChange& change) { return total(change.now); });
    return result;
  }

private:
  using Places = std::vector<std::pair<const Measurement*, FunctionId>>;
  struct Runs {
    Places base;
    Places now;
  };

  [[nodiscard]] std::vector<RunOfCalls> calls_of(const Places& places,
                                                 const std::vector<Report>& reports) const {
    const bool several = base_.size() > 1 || now_.size() > 1;
    std::vector<RunOfCalls> runs;
    for (std::size_t at = 0; at < places.size(); ++at) {
      if (reports[at].latency.calls > 0) {
        const auto& [measurement, function] = places[at];
        const auto edges = measurement->cache->edges_to(function);
        runs.push_back(run_of_calls(*measurement, std::vector(edges.begin(), edges.end()),
                                    reports[at].latency, several));
      }
    }
    return runs;
  }

  [[nodiscard]] bool timed() const {
    const auto has_timing = [](const Measurement* each) {
      return each->recording.uncertainty_ns.has_value();
    };
    return std::ranges::all_of(base_, has_timing) && std::ranges::all_of(now_, has_timing);
  }

  Recordings base_;
  Recordings now_;
  std::vector<FunctionChange> changes_;
  std::vector<Runs> runs_; // by change
};

// Returns the report of one function; of one without calls, an empty report.
std::vector<Report> report_of(const Measurement& recording, FunctionId function) {
  if (function == FunctionId::none) {
    return {};
  }
  std::vector<Report> reports = function_figures(recording, std::array{function});
  if (reports.empty()) {
    reports.emplace_back().function = function;
  }
  return reports;
}

} // namespace

FunctionId same_function(const Measurement& base, const Measurement& now, FunctionId function) {
  if (!now.functions.has(function)) {
    return FunctionId::none;
  }
  return find_same(base, functions_by_key(base), now.functions[function]);
}

RecordingDifference differences(Recordings base, Recordings now) {
  Pairs pairs(base, now);
  for (const Measurement* recording : now) {
    pairs.add(*recording, all_function_figures(*recording), true);
  }
  for (const Measurement* recording : base) {
    pairs.add(*recording, all_function_figures(*recording), false);
  }
  return pairs.finish();
}

RecordingDifference differences_of(Recordings base, Recordings now, const Measurement& measurement,
                                   FunctionId function) {
  Pairs pairs(base, now);
  const auto add = [&](const Measurement* recording, bool is_now) {
    const FunctionId same =
        recording == &measurement ? function : same_function(*recording, measurement, function);
    pairs.add(*recording, report_of(*recording, same), is_now);
  };
  for (const Measurement* recording : now) {
    add(recording, true);
  }
  for (const Measurement* recording : base) {
    add(recording, false);
  }
  return pairs.finish();
}

} // namespace ptlens::measure
