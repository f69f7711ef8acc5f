// The text at the end of a line.
#include "server/annotations/line_text.hpp"

#include "export/line_times.hpp"
#include "export/text/latency_text.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"
#include "server/annotations/annotation_text.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace ptlens::server {
namespace {

using exporting::as_double;
using exporting::count;
using exporting::duration;

std::string padded(std::string text, std::size_t least) {
  const std::size_t present = exporting::width(text);
  return std::string(least > present ? least - present : 0, ' ') + text;
}

// "line 12.3 ns × 1,000", or "line × 1,000 · ≤ 40.1 µs shared with lines 10–13" where the time
// cannot be separated from that of other lines.
std::string line_time_text(const AnnotatedFile& file, const AnnotatedLine& line) {
  const line_time::LineTime& time = *line.time;
  const std::string executions = count(time.executions);
  if (!file.times->timed) {
    return fmt::format("line × {} · no timing", executions);
  }
  if (time.is_known()) {
    const double executed = as_double(std::max<std::uint64_t>(time.executions, 1));
    return fmt::format("line {} × {}", duration(time.time() / executed), executions);
  }
  if (time.at_most == 0) {
    return fmt::format("line × {} · too short to time", executions);
  }
  const std::string lines = exporting::line_ranges(line.shared_with);
  return fmt::format("line × {} · ≤ {} shared with {}{}", executions,
                     duration(as_double(time.at_most)), lines.empty() ? "what it calls" : "lines ",
                     lines);
}

// Returns " (f, g)": the functions that the line called and that have no call in its figures.
std::string names_without_figures(const AnnotatedFile& file, const measure::LineRow& row) {
  constexpr std::size_t most_names = 2;
  std::vector<std::string> names;
  std::size_t more = 0;
  for (const measure::LineCallee& callee : row.callees) {
    if (callee.calls != 0) {
      continue;
    }
    if (names.size() < most_names) {
      const std::string& name = file.measurement().functions[callee.function].name;
      names.push_back(exporting::printable(symbols::last_component(name)));
    } else {
      ++more;
    }
  }
  if (names.empty()) {
    return {};
  }
  return fmt::format(" ({}{})", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

} // namespace

std::string line_calls_text(const measure::RecordingInfo& recording, const measure::LineRow& row,
                            const FigureWidths& widths) {
  std::string text;
  if (row.latency.calls > 0 && !recording.uncertainty_ns) {
    text = count(row.latency.calls, "call") + " · no timing";
  } else if (row.latency.calls > 0) {
    text = fmt::format("{} × {}", padded(exporting::mean_text(row.latency), widths.mean),
                       padded(count(row.latency.calls), widths.count));
    if (recording.off_cpu_known && row.off_cpu.total > 0) {
      text += fmt::format(" · off-CPU {} total",
                          padded(duration(as_double(row.off_cpu.total)), widths.duration));
    }
  }
  const std::string excluded = excluded_calls(row.incomplete, row.unwound);
  constexpr std::size_t separator = std::string_view(" · ").size();
  return text.empty() && !excluded.empty() ? excluded.substr(separator) : text + excluded;
}

std::string line_text(const AnnotatedFile& file, const AnnotatedLine& line,
                      const FigureWidths& widths) {
  std::string text = line_calls_text(file.measurement().recording, *line.row, widths) +
                     names_without_figures(file, *line.row);
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : " · ") + more; };
  if (line.time != nullptr) {
    add(line_time_text(file, line));
  }
  if (file.baseline != nullptr && line.has_calls()) {
    add(change_text(line.difference));
  }
  switch (line.staleness) {
  case Staleness::edited:
  case Staleness::edited_elsewhere:
    return "✎ " + text;
  case Staleness::newer_source:
    return "? " + text;
  case Staleness::rebuilt:
    add(staleness_text(line.staleness));
    break;
  case Staleness::current:
  case Staleness::unknown:
    break;
  }
  return text;
}

std::string line_time_sentences(const AnnotatedFile& file, const AnnotatedLine& line) {
  const line_time::LineTime& time = *line.time;
  const std::string executions =
      fmt::format("Executions of the line: {}. ", count(time.executions));
  if (!file.times->timed || time.at_most == 0) {
    return executions + "The trace does not show the time of its own instructions.";
  }
  if (time.is_known()) {
    return executions + fmt::format("Its own instructions took {} ± {} in all, without the "
                                    "functions that it calls and without off-CPU time.",
                                    duration(time.time()), duration(time.uncertainty()));
  }
  const std::string lines = exporting::line_ranges(line.shared_with);
  return executions +
         fmt::format("Its own instructions took {} to {} in all: the trace does not separate their "
                     "time from that of {}{}.",
                     duration(as_double(time.at_least)), duration(as_double(time.at_most)),
                     lines.empty() ? "the functions that it calls" : "lines ", lines);
}

} // namespace ptlens::server
