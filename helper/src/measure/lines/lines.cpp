// The figures of one source file: one pass sorts calls by the function they are of and by the line
// they were made from.
#include "measure/lines/lines.hpp"

#include "measure/names/names.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/statistics/function_figures.hpp"
#include "measure/statistics/pair_map.hpp"
#include "measure/statistics/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

namespace ptlens::measure {

namespace {

using stacks::CallState;

constexpr std::uint32_t no_row = stacks::no_call;

Error unknown_file(const Measurement& measurement, const std::string& file,
                   const std::set<std::string_view>& held) {
  constexpr std::size_t listed = 10;
  constexpr std::size_t shown_bytes = 200;
  Error error{
      .kind = Error::Kind::not_found,
      .message = fmt::format("no source file \"{}\" in the recording", file.substr(0, shown_bytes)),
      .file = measurement.recording.path,
      .offset = std::nullopt,
      .remedy = "compile the program with -g: none of its functions has a source file"};
  if (!held.empty()) {
    error.remedy = fmt::format("it holds {}{}", fmt::join(held | std::views::take(listed), ", "),
                               held.size() > listed ? ", ..." : "");
  }
  return error;
}

// The one source file that `file` means.
Result<std::string> source_file(const Measurement& measurement, const std::string& file) {
  std::set<std::string_view> held;
  for (const stacks::FunctionInfo& function : measurement.functions) {
    held.insert(function.file);
  }
  for (const stacks::CallSite& site : measurement.sites) {
    held.insert(site.file);
  }
  held.erase(std::string_view());
  if (held.contains(file)) {
    return file;
  }
  std::map<std::size_t, std::vector<std::string_view>> matches; // by components shared
  for (const std::string_view candidate : held) {
    if (const std::size_t shared = shared_path_end(candidate, file); shared > 0) {
      matches[shared].push_back(candidate);
    }
  }
  if (matches.empty()) {
    return std::unexpected(unknown_file(measurement, file, held));
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

std::vector<FileFunction> file_functions(const Measurement& measurement,
                                         const stacks::CallTable& table, const std::string& file) {
  std::vector<std::uint32_t> wanted;
  for (std::size_t function = 0; function < measurement.functions.size(); ++function) {
    if (measurement.functions[function].file == file) {
      wanted.push_back(static_cast<std::uint32_t>(function));
    }
  }
  std::vector<FileFunction> functions;
  for (Report& report : function_figures(measurement, table, wanted)) {
    const std::uint32_t function = report.function;
    functions.push_back({.function = function, .report = std::move(report)});
  }
  std::ranges::sort(functions, {}, [&](const FileFunction& function) {
    return std::pair(measurement.functions[function.function].line, function.function);
  });
  return functions;
}

// Calls made from the lines of a file, by line and by (line, function called).
class LineTable {
public:
  LineTable(const Measurement& measurement, const stacks::CallTable& calls, const std::string& file)
      : calls_(calls) {
    for (const stacks::CallSite& site : measurement.sites) {
      const bool here = site.line > 0 && site.file == file;
      row_of_site_.push_back(here ? rows_.number(site.line, 0) : no_row);
    }
    lines_.resize(rows_.size());
    add_holders(measurement.sites);
    for (std::size_t call = 0; call < calls.size(); ++call) {
      const std::uint32_t site = calls.site[call];
      if (site != stacks::no_site && row_of_site_[site] != no_row) {
        add(call, row_of_site_[site]);
      }
    }
  }

  std::vector<LineRow> finish() {
    const std::vector<Figures> all = figures(calls_, complete_, row_of_complete_, rows_.size(), {});
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      lines_[i].line = rows_[i].first;
      lines_[i].latency = all[i].latency;
      lines_[i].off_cpu = all[i].off_cpu;
    }
    for (std::size_t i = 0; i < callees_.size(); ++i) {
      const auto& [row, function] = callees_[i];
      lines_[row].callees.push_back(
          {.function = function,
           .calls = callee_sums_[i].calls,
           .mean = mean_of(callee_sums_[i].latency, callee_sums_[i].calls)});
    }
    std::erase_if(lines_, [](const LineRow& line) { return line.callees.empty(); });
    for (LineRow& line : lines_) {
      std::ranges::sort(line.callees, {}, [](const LineCallee& callee) {
        return std::pair(~callee.calls, callee.function); // most calls first
      });
    }
    std::ranges::sort(lines_, {}, &LineRow::line);
    return std::move(lines_);
  }

private:
  struct CalleeSum {
    std::uint64_t calls = 0;
    WideSum latency = 0;
  };

  void add_holders(const std::vector<stacks::CallSite>& sites) {
    for (std::size_t site = 0; site < sites.size(); ++site) {
      if (row_of_site_[site] != no_row && sites[site].function != stacks::no_call) {
        lines_[row_of_site_[site]].holders.push_back(sites[site].function);
      }
    }
    for (LineRow& line : lines_) {
      std::ranges::sort(line.holders);
      const auto repeated = std::ranges::unique(line.holders);
      line.holders.erase(repeated.begin(), repeated.end());
    }
  }

  void add(std::size_t call, std::uint32_t row) {
    const stacks::CallTable& calls = calls_;
    const std::uint32_t callee = callees_.number(row, calls.function[call]);
    callee_sums_.resize(callees_.size());
    switch (calls.state[call]) {
    case CallState::complete:
      complete_.push_back(static_cast<std::uint32_t>(call));
      row_of_complete_.push_back(row);
      ++callee_sums_[callee].calls;
      callee_sums_[callee].latency += calls.latency[call];
      break;
    case CallState::incomplete:
      ++lines_[row].incomplete;
      break;
    case CallState::unwound:
      ++lines_[row].unwound;
      break;
    }
  }

  const stacks::CallTable& calls_;
  PairMap rows_;                           // (line, 0)
  std::vector<std::uint32_t> row_of_site_; // no_row: in another file
  std::vector<LineRow> lines_;
  PairMap callees_; // (row, function)
  std::vector<CalleeSum> callee_sums_;
  std::vector<std::uint32_t> complete_;
  std::vector<std::uint32_t> row_of_complete_;
};

// Calls of the functions of the file, and those made from its lines.
CallSubset part_of(const Measurement& measurement, const std::string& file) {
  CallsNeeded needs(measurement);
  for (std::uint32_t function = 0; function < measurement.functions.size(); ++function) {
    if (measurement.functions[function].file == file) {
      needs.calls_of(function);
    }
  }
  std::vector<bool> sites;
  sites.reserve(measurement.sites.size());
  for (const stacks::CallSite& site : measurement.sites) {
    sites.push_back(site.line > 0 && site.file == file);
  }
  needs.calls_from(sites);
  return needs.gather();
}

} // namespace

Result<FileLines> lines(const Measurement& measurement, const std::string& file) {
  Result<std::string> source = source_file(measurement, file);
  if (!source) {
    return std::unexpected(std::move(source.error()));
  }
  FileLines result;
  const CallSubset part = part_of(measurement, *source);
  result.functions = file_functions(measurement, part.calls(), *source);
  result.lines = LineTable(measurement, part.calls(), *source).finish();
  result.file = std::move(*source);
  return result;
}

} // namespace ptlens::measure
