// The executions of inlined code, by place.
#include "measure/report/inlined.hpp"

#include "measure/names/names.hpp"
#include "measure/selection/select_calls.hpp"
#include "measure/statistics/edge_figures.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>

namespace ptlens::measure {

namespace {

std::set<stacks::FunctionId> inlined_functions(const InlinedMeasurement& inlined) {
  std::set<stacks::FunctionId> functions;
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

Result<stacks::FunctionId> choose_inlined(const InlinedMeasurement& inlined,
                                          const std::string& name) {
  const Measurement& measurement = inlined.measurement;
  const std::set<stacks::FunctionId> all = inlined_functions(inlined);
  std::set<stacks::FunctionId> ran;
  for (const FunctionRow& row : functions(measurement)) {
    if (all.contains(row.function)) {
      ran.insert(row.function);
    }
  }
  const std::set<stacks::FunctionId>& found = ran.empty() ? all : ran;
  if (found.size() == 1) {
    return *found.begin();
  }
  Error error{.kind = Error::Kind::not_found,
              .message =
                  fmt::format("the recording contains no code in which \"{}\" was inlined", name),
              .file = measurement.recording.path,
              .offset = std::nullopt,
              .remedy = {}};
  if (!found.empty()) {
    const auto candidates = found | std::views::take(listed_candidates) |
                            std::views::transform([&](stacks::FunctionId function) {
                              const stacks::FunctionInfo& info = measurement.functions[function];
                              return fmt::format("{} ({})", info.name, info.binary);
                            });
    error.kind = Error::Kind::bad_input;
    error.message =
        fmt::format("{} inlined functions match \"{}\": {}{}", found.size(), name,
                    fmt::join(candidates, ", "), found.size() > listed_candidates ? ", ..." : "");
    error.remedy = "give the full name, or the binary too";
  }
  return std::unexpected(std::move(error));
}

std::vector<InlinedRow> inlined_rows(const InlinedMeasurement& inlined,
                                     std::span<const stacks::FunctionId> functions,
                                     const Selection& selection) {
  const Measurement& measurement = inlined.measurement;
  const cache::CallCache& cache = *measurement.cache;
  std::optional<cache::OrderSet> selected;
  if (!selection.accepts_all()) {
    selected = select_calls(measurement, functions, selection);
  }
  std::vector<InlinedRow> rows;
  std::vector<EdgeCalls> calls;
  for (const stacks::FunctionId function : functions) {
    std::map<stacks::SiteId, std::uint32_t> row_of;
    for (const InlinedSite& place : inlined.places) {
      if (place.function == function) {
        row_of[place.site] = static_cast<std::uint32_t>(rows.size());
        InlinedRow& row = rows.emplace_back();
        row.site = measurement.sites[place.site];
        row.countable = place.countable;
        if (measurement.functions.has(place.holder)) {
          row.holder = measurement.functions[place.holder];
        }
      }
    }
    for (const cache::EdgeId edge : cache.edges_to(function)) {
      if (const auto at = row_of.find(cache.edge(edge).site); at != row_of.end()) {
        calls.push_back({.edge = edge, .set = at->second});
      }
    }
  }
  EdgeFigures figures(cache,
                      {.calls = selected ? &*selected : nullptr,
                       .made_in = nullptr,
                       .states = selection.states_or({stacks::CallState::complete})},
                      {.count = static_cast<std::uint32_t>(rows.size())});
  const std::vector<SetFigures> sets = figures.read(calls);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].complete = sets[i].states[static_cast<std::size_t>(stacks::CallState::complete)];
    rows[i].incomplete = sets[i].states[static_cast<std::size_t>(stacks::CallState::incomplete)];
    rows[i].unwound = sets[i].states[static_cast<std::size_t>(stacks::CallState::unwound)];
    rows[i].latency = sets[i].figures.latency;
  }
  std::ranges::stable_sort(rows, {}, [](const InlinedRow& row) {
    return std::tuple(!row.countable, ~row.latency.total, ~row.latency.calls);
  });
  return rows;
}

std::vector<stacks::FunctionId> inlined_as(const InlinedMeasurement& inlined,
                                           const stacks::FunctionInfo& function) {
  std::vector<stacks::FunctionId> same;
  for (const stacks::FunctionId index : inlined_functions(inlined)) {
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

std::vector<Note> inlined_notes(const InlinedPart& part, const RecordingInfo& recording) {
  if (part.rows.empty()) {
    return {};
  }
  const std::size_t places = part.rows.size();
  const std::string_view plural = places == 1 ? "" : "s";
  if (part.filtered) {
    return {make_note("inlined_filtered",
                      "inlined at {} place{}; the recording used an address filter, so that "
                      "executions there cannot be distinguished and have no figures",
                      places, plural)};
  }
  std::uint64_t uncertainty = 0;
  std::size_t mixed = 0;
  for (const InlinedRow& row : part.rows) {
    uncertainty = std::max(uncertainty, row.latency.uncertainty);
    mixed += row.countable ? 0 : 1;
  }
  std::vector<Note> notes;
  if (recording.uncertainty_ns && mixed != places) {
    notes.push_back(make_note("inlined_timed",
                              "inlined at {} place{}: each execution of the code there counts as a "
                              "call; nineteen of twenty latencies are known to ± {} ns",
                              places, plural, uncertainty));
  } else {
    notes.push_back(make_note("inlined",
                              "inlined at {} place{}: each execution of the code there counts as a "
                              "call",
                              places, plural));
  }
  if (mixed != 0) {
    notes.push_back(
        make_note("inlined_mixed",
                  "{} of these places cannot be counted: the compiler mixed the inlined "
                  "code with the code around it, so that it has no single entry",
                  mixed));
  }
  if (part.called) {
    notes.push_back(make_note("inlined_not_included",
                              "the function's figures do not include executions of inlined code"));
  }
  return notes;
}

} // namespace ptlens::measure
