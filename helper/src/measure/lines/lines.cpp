// Each line of a source file is a set of edges: those whose call sites are on the line.
#include "measure/lines/lines.hpp"

#include "cache/writing/edge_tally.hpp"
#include "measure/names/names.hpp"
#include "measure/report/function_figures.hpp"
#include "measure/statistics/edge_figures.hpp"
#include "measure/statistics/pair_map.hpp"
#include "measure/statistics/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::CallState;

constexpr std::uint32_t no_row = UINT32_MAX;

Error unknown_file(const Measurement& measurement, const std::string& file,
                   const std::set<std::string_view>& known) {
  constexpr std::size_t listed = 10;
  constexpr std::size_t shown_bytes = 200;
  Error error{.kind = Error::Kind::not_found,
              .message = fmt::format("the recording contains no source file \"{}\"",
                                     file.substr(0, shown_bytes)),
              .file = measurement.recording.path,
              .offset = std::nullopt,
              .remedy = "none of its functions has a source file: compile the program with -g"};
  if (!known.empty()) {
    error.remedy =
        fmt::format("it contains {}{}", fmt::join(known | std::views::take(listed), ", "),
                    known.size() > listed ? ", ..." : "");
  }
  return error;
}

// Returns the source file that `file` names.
Result<std::string> source_file(const Measurement& measurement, const std::string& file) {
  std::set<std::string_view> known;
  for (const stacks::FunctionInfo& function : measurement.functions) {
    known.insert(function.file);
  }
  for (const stacks::CallSite& site : measurement.sites) {
    known.insert(site.file);
  }
  known.erase(std::string_view());
  if (known.contains(file)) {
    return file;
  }
  std::map<std::size_t, std::vector<std::string_view>> matches; // by components shared
  for (const std::string_view candidate : known) {
    if (const std::size_t shared = shared_path_end(candidate, file); shared > 0) {
      matches[shared].push_back(candidate);
    }
  }
  if (matches.empty()) {
    return std::unexpected(unknown_file(measurement, file, known));
  }
  const std::vector<std::string_view>& best = matches.rbegin()->second;
  if (best.size() > 1) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = fmt::format("{} source files end in \"{}\": {}",
                                                        best.size(), file, fmt::join(best, ", ")),
                                 .file = measurement.recording.path,
                                 .offset = std::nullopt,
                                 .remedy = "give more of the path"});
  }
  return std::string(best.front());
}

std::vector<FileFunction> file_functions(const Measurement& measurement, const std::string& file) {
  std::vector<stacks::FunctionId> wanted;
  for (const stacks::FunctionId function : measurement.functions.ids()) {
    if (measurement.functions[function].file == file) {
      wanted.push_back(function);
    }
  }
  std::vector<FileFunction> functions;
  for (Report& report : function_figures(measurement, wanted)) {
    const stacks::FunctionId function = report.function;
    functions.push_back({.function = function, .report = std::move(report)});
  }
  std::ranges::sort(functions, {}, [&](const FileFunction& function) {
    return std::pair(measurement.functions[function.function].line, function.function);
  });
  return functions;
}

// The calls made from the lines of a file, by line and by function called.
class LineTable {
public:
  LineTable(const Measurement& measurement, const std::string& file) : cache_(*measurement.cache) {
    for (const stacks::CallSite& site : measurement.sites) {
      const bool here = site.line > 0 && site.file == file;
      row_of_site_.push_back(here ? rows_.number(site.line, 0) : no_row);
    }
    lines_.resize(rows_.size());
    add_holders(measurement.sites);
    for (const cache::EdgeId edge : cache_.edges()) {
      const stacks::SiteId site = cache_.edge(edge).site;
      if (row_of_site_.has(site) && row_of_site_[site] != no_row) {
        edges_.push_back(edge);
        calls_.push_back({.edge = edge, .set = row_of_site_[site]});
      }
    }
  }

  std::vector<LineRow> finish() {
    EdgeFigures figures(cache_, {}, {.count = static_cast<std::uint32_t>(lines_.size())});
    const std::vector<SetFigures> sets = figures.read(calls_);
    for (std::size_t row = 0; row < lines_.size(); ++row) {
      LineRow& line = lines_[row];
      line.line = rows_[row].first;
      line.latency = sets[row].figures.latency;
      line.off_cpu = sets[row].figures.off_cpu;
      line.incomplete = sets[row].states[static_cast<std::size_t>(CallState::incomplete)];
      line.unwound = sets[row].states[static_cast<std::size_t>(CallState::unwound)];
    }
    for (const EdgeCalls& each : calls_) {
      lines_[each.set].edges.push_back(each.edge);
    }
    add_callees();
    std::erase_if(lines_, [](const LineRow& line) { return line.callees.empty(); });
    std::ranges::sort(lines_, {}, &LineRow::line);
    return std::move(lines_);
  }

private:
  void add_holders(const stacks::CallSites& sites) {
    for (const stacks::SiteId site : sites.ids()) {
      if (row_of_site_[site] != no_row && sites[site].function != stacks::FunctionId::none) {
        lines_[row_of_site_[site]].holders.push_back(sites[site].function);
      }
    }
    for (LineRow& line : lines_) {
      std::ranges::sort(line.holders);
      const auto repeated = std::ranges::unique(line.holders);
      line.holders.erase(repeated.begin(), repeated.end());
    }
  }

  // Returns whether the instruction of the edge's call site is a jump: its first calls say so.
  [[nodiscard]] bool are_tail_calls(cache::EdgeId edge) const {
    for (const cache::BlockEntry& entry : cache_.blocks(edge)) {
      if (const auto block = entry.calls == 0 ? std::nullopt : cache_.block(entry)) {
        return (block->flags[0] & cache::tail_call_bit) != 0;
      }
    }
    return false;
  }

  // Returns the functions that calls of the function jumped to, most calls first.
  [[nodiscard]] std::vector<stacks::FunctionId> tail_callees_of(stacks::FunctionId function) const {
    std::map<stacks::FunctionId, std::uint64_t> found;
    for (const cache::EdgeId edge : cache_.edges_from(function)) {
      if (are_tail_calls(edge)) {
        for (const cache::BlockEntry& entry : cache_.blocks(edge)) {
          found[cache_.edge(edge).function] += entry.calls;
        }
      }
    }
    std::vector<stacks::FunctionId> functions;
    for (const auto& [callee, calls] : found) {
      functions.push_back(callee);
    }
    std::ranges::stable_sort(functions, std::greater(),
                             [&](stacks::FunctionId callee) { return found[callee]; });
    return functions;
  }

  void add_callees() {
    PairMap<std::uint32_t, stacks::FunctionId> callees; // (row, function)
    std::vector<Tally> tallies;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> excluded; // incomplete, unwound
    std::vector<bool> tail_calls;
    const std::vector<cache::EdgeTally> tallied = cache::edge_tallies(cache_, {}, edges_);
    for (std::size_t at = 0; at < edges_.size(); ++at) {
      const auto& states = tallied[at].states;
      if (states[0] + states[1] + states[2] != 0) {
        const std::uint32_t callee =
            callees.number(calls_[at].set, cache_.edge(edges_[at]).function);
        tallies.resize(callees.size());
        excluded.resize(callees.size());
        tail_calls.resize(callees.size());
        tail_calls[callee] = tail_calls[callee] || are_tail_calls(edges_[at]);
        tallies[callee].add(tallied[at].tally);
        excluded[callee].first += states[static_cast<std::size_t>(CallState::incomplete)];
        excluded[callee].second += states[static_cast<std::size_t>(CallState::unwound)];
      }
    }
    std::map<stacks::FunctionId, std::vector<stacks::FunctionId>> tail_callees;
    for (std::size_t callee = 0; callee < callees.size(); ++callee) {
      const auto& [row, function] = callees[callee];
      const auto [ends, added] = tail_callees.try_emplace(function);
      if (added) {
        ends->second = tail_callees_of(function);
      }
      const Tally& tally = tallies[callee];
      LineCallee& made = lines_[row].callees.emplace_back();
      made = {.function = function,
              .calls = tally.calls,
              .mean = mean_of(tally.latency, tally.calls),
              .incomplete = excluded[callee].first,
              .unwound = excluded[callee].second,
              .tail_call = tail_calls[callee],
              .tail_callees = ends->second};
      if (tally.removed != 0) {
        made.within = mean_of(tally.uncertainty, tally.calls);
        halve_below_resolution(made.mean, made.within);
      }
    }
    for (LineRow& line : lines_) {
      std::ranges::sort(line.callees, {}, [](const LineCallee& callee) {
        return std::pair(~callee.calls, callee.function); // most calls first
      });
    }
  }

  const cache::CallCache& cache_;
  PairMap<std::uint32_t, std::uint32_t> rows_;          // (line, 0)
  IdVector<stacks::SiteId, std::uint32_t> row_of_site_; // no_row: in another file
  std::vector<LineRow> lines_;
  std::vector<cache::EdgeId> edges_;
  std::vector<EdgeCalls> calls_; // by edge
};

} // namespace

Result<FileLines> lines(const Measurement& measurement, const std::string& file) {
  Result<std::string> source = source_file(measurement, file);
  if (!source) {
    return std::unexpected(std::move(source.error()));
  }
  FileLines result;
  result.functions = file_functions(measurement, *source);
  result.lines = LineTable(measurement, *source).finish();
  result.file = std::move(*source);
  return result;
}

} // namespace ptlens::measure
