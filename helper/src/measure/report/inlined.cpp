// Executions of inlined code by place.
#include "measure/report/inlined.hpp"

#include "measure/names/names.hpp"
#include "measure/report/function_report.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/statistics/statistics.hpp"
#include "stacks/calls/remove_calls.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

namespace ptlens::measure {

namespace {

std::set<std::uint32_t> inlined_functions(const InlinedMeasurement& inlined) {
  std::set<std::uint32_t> functions;
  for (const InlinedSite& place : inlined.places) {
    functions.insert(place.function);
  }
  return functions;
}

} // namespace

bool may_be_inlined(const Measurement& measurement, const std::string& name) {
  const std::string last = symbols::last_component(symbols::demangle(parse_selector(name).name));
  return !last.empty() && std::ranges::binary_search(measurement.inlined_names, last);
}

Measurement without_inlined(const InlinedMeasurement& inlined) {
  Measurement measurement = inlined.measurement;
  std::vector<std::uint8_t> gone(measurement.calls.size(), 0);
  for (std::size_t row = 0; row < gone.size(); ++row) {
    gone[row] = measurement.calls.function[row] >= inlined.called_functions ? 1 : 0;
  }
  stacks::remove_calls(measurement.calls, gone);
  measurement.functions.resize(inlined.called_functions);
  measurement.sites.resize(inlined.called_sites);
  return measurement;
}

Result<std::uint32_t> choose_inlined(const InlinedMeasurement& inlined, const std::string& name) {
  const Measurement& measurement = inlined.measurement;
  const std::set<std::uint32_t> all = inlined_functions(inlined);
  std::set<std::uint32_t> ran;
  for (const FunctionRow& row : functions(measurement)) {
    if (all.contains(row.function)) {
      ran.insert(row.function);
    }
  }
  const std::set<std::uint32_t>& found = ran.empty() ? all : ran;
  if (found.size() == 1) {
    return *found.begin();
  }
  Error error{.kind = Error::Kind::not_found,
              .message = fmt::format("\"{}\" was inlined nowhere in the recording", name),
              .file = measurement.recording.path,
              .offset = std::nullopt,
              .remedy = {}};
  if (!found.empty()) {
    const auto candidates = found | std::views::take(listed_candidates) |
                            std::views::transform([&](std::uint32_t function) {
                              const stacks::FunctionInfo& info = measurement.functions[function];
                              return fmt::format("{} ({})", info.name, info.binary);
                            });
    error.kind = Error::Kind::bad_input;
    error.message =
        fmt::format("{} functions that were inlined answer to \"{}\": {}{}", found.size(), name,
                    fmt::join(candidates, ", "), found.size() > listed_candidates ? ", ..." : "");
    error.remedy = "give the name in full, or its binary as well";
  }
  return std::unexpected(std::move(error));
}

std::vector<InlinedRow> inlined_rows(const InlinedMeasurement& inlined,
                                     std::span<const std::uint32_t> functions,
                                     const Selection& selection) {
  const Measurement& measurement = inlined.measurement;
  std::vector<InlinedRow> rows;
  for (const std::uint32_t function : functions) {
    std::map<std::uint32_t, std::size_t> row_of; // by site
    const std::size_t first = rows.size();
    for (const InlinedSite& place : inlined.places) {
      if (place.function == function) {
        row_of[place.site] = rows.size();
        InlinedRow row;
        row.site = measurement.sites[place.site];
        row.countable = place.countable;
        if (place.holder < measurement.functions.size()) {
          row.holder = measurement.functions[place.holder];
        }
        rows.push_back(std::move(row));
      }
    }
    std::vector<std::vector<std::uint64_t>> latencies(rows.size() - first);
    std::vector<std::uint32_t> complete;
    std::vector<std::uint32_t> group;
    const Selected selected = select_calls(measurement, function, selection);
    const stacks::CallTable& calls = selected.part.calls();
    for (const std::uint32_t call : selected.calls) {
      const auto at = row_of.find(calls.site[call]);
      if (at == row_of.end()) {
        continue;
      }
      InlinedRow& row = rows[at->second];
      switch (calls.state[call]) {
      case stacks::CallState::complete:
        ++row.complete;
        complete.push_back(call);
        group.push_back(static_cast<std::uint32_t>(at->second - first));
        break;
      case stacks::CallState::incomplete:
        ++row.incomplete;
        break;
      case stacks::CallState::unwound:
        ++row.unwound;
        break;
      }
    }
    const std::vector<Figures> all = figures(calls, complete, group, rows.size() - first, {});
    for (std::size_t i = 0; i < all.size(); ++i) {
      rows[first + i].latency = all[i].latency;
    }
  }
  std::ranges::stable_sort(rows, {}, [](const InlinedRow& row) {
    return std::tuple(!row.countable, ~row.latency.total, ~row.latency.calls);
  });
  return rows;
}

std::vector<std::uint32_t> inlined_as(const InlinedMeasurement& inlined,
                                      const stacks::FunctionInfo& function) {
  std::vector<std::uint32_t> same;
  for (const std::uint32_t index : inlined_functions(inlined)) {
    const stacks::FunctionInfo& info = inlined.measurement.functions[index];
    const bool both_declared = info.line != 0 && function.line != 0;
    const bool same_declaration = info.line == function.line && info.file == function.file;
    if (symbols::without_parameters(info.name) == symbols::without_parameters(function.name) &&
        (!both_declared || same_declaration)) {
      same.push_back(index);
    }
  }
  return same;
}

std::vector<std::string> inlined_notes(const InlinedPart& part, const RecordingInfo& recording) {
  if (part.rows.empty()) {
    return {};
  }
  const std::string where =
      fmt::format("inlined at {} place{}", part.rows.size(), part.rows.size() == 1 ? "" : "s");
  if (part.filtered) {
    return {fmt::format("{}; an address filter was on while recording, so that executions there "
                        "are not told apart and have no figures",
                        where)};
  }
  std::uint64_t uncertainty = 0;
  std::size_t mixed = 0;
  for (const InlinedRow& row : part.rows) {
    uncertainty = std::max(uncertainty, row.latency.uncertainty);
    mixed += row.countable ? 0 : 1;
  }
  std::vector<std::string> notes;
  notes.push_back(fmt::format("{}: each execution of the code there counts as a call", where));
  if (recording.uncertainty_ns && mixed != part.rows.size()) {
    notes.back() += fmt::format("; nineteen of twenty latencies are known to ± {} ns", uncertainty);
  }
  if (mixed != 0) {
    notes.push_back(fmt::format("{} of them cannot be counted: the compiler mixed the code with "
                                "its surroundings, so that it is not entered by one way",
                                mixed));
  }
  if (part.called) {
    notes.emplace_back("the executions of inlined code are not in the figures of the function");
  }
  return notes;
}

} // namespace ptlens::measure
