// The text at the end of a line.
#include "server/annotations/line_text.hpp"

#include "export/line_times.hpp"
#include "export/text/latency_text.hpp"
#include "export/text/table.hpp"
#include "export/text/tail_calls.hpp"
#include "export/text/units.hpp"
#include "server/annotations/annotation_text.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
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

// Returns "3 unwound (f, g)": the number of calls that ended without a return, and what they
// called.
std::string unwound_text(const AnnotatedFile& file, const measure::LineRow& row) {
  constexpr std::size_t most_names = 2;
  if (row.unwound == 0) {
    return {};
  }
  std::vector<std::string> names;
  std::size_t more = 0;
  for (const measure::LineCallee& callee : row.callees) {
    if (callee.unwound == 0) {
      continue;
    }
    if (names.size() < most_names) {
      const std::string& name = file.measurement().functions[callee.function].name;
      names.push_back(exporting::printable(symbols::last_component(name)));
    } else {
      ++more;
    }
  }
  return fmt::format("{} unwound ({}{})", count(row.unwound), fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// Returns the tail calls of what the line calls: "→ add_tax (tail call)".
std::string tail_calls_text(const AnnotatedFile& file, const measure::LineRow& row) {
  constexpr std::size_t most_callees = 2;
  std::vector<std::string> texts;
  for (const measure::LineCallee& callee : row.callees) {
    std::string text = exporting::tail_call_text(file.measurement(), callee);
    if (!text.empty() && texts.size() < most_callees) {
      texts.push_back(std::move(text));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Returns a line of half cells, dashed where the calls wait; at least half a cell.
std::string share_bar(double share, bool waiting) {
  constexpr std::size_t cells = 5;
  constexpr double percent = 100;
  const auto halves = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(2 * as_double(cells) * share / percent)));
  std::string text;
  for (std::size_t cell = 0; cell < halves / 2; ++cell) {
    text += waiting ? "╍" : "━";
  }
  text += halves % 2 == 1 ? "╸" : "";
  return text + std::string(cells - (halves + 1) / 2, ' ');
}

std::string share_text(double share) {
  constexpr double whole = 99.95;
  return share >= whole ? "100 %" : fmt::format("{:.1f} %", share);
}

// Returns mean, calls and share of a line with complete calls.
std::string figures_text(const AnnotatedFile& file, const AnnotatedLine& line,
                         const FigureWidths& widths) {
  const measure::LatencyStats& latency = line.row->latency;
  if (!file.measurement().recording.uncertainty_ns) {
    return count(latency.calls, "call") + " · no timing";
  }
  const bool columns = widths.mean > 0;
  const std::string calls = "× " + count(latency.calls);
  std::string text = fmt::format(
      "{}{}{}", padded(exporting::brief_figure(latency.mean, latency.within.mean), widths.mean),
      columns ? "  " : " ", padded(calls, widths.count));
  if (line.share) {
    constexpr std::size_t share_width = 6;
    // The change against a baseline takes the place of the bar, so that a split has room for it.
    const std::string bar =
        file.baseline == nullptr ? share_bar(*line.share, line.is_mostly_waiting()) + ' ' : "";
    text += columns ? fmt::format("  {}{}", bar, padded(share_text(*line.share), share_width))
                    : " · " + share_text(*line.share);
  }
  return text;
}

// Returns whether the calls of a line are worth a text.
bool has_figures(const AnnotatedLine& line) {
  constexpr double least_share = 0.1; // percent
  return line.row->latency.calls > 0 && line.share.value_or(least_share) >= least_share;
}

} // namespace

std::string line_calls_text(const measure::RecordingInfo& recording, const measure::LineRow& row) {
  std::string text;
  if (row.latency.calls > 0 && !recording.uncertainty_ns) {
    text = count(row.latency.calls, "call") + " · no timing";
  } else if (row.latency.calls > 0) {
    text = fmt::format("{} × {}", exporting::mean_text(row.latency), count(row.latency.calls));
    if (recording.off_cpu_known && row.off_cpu.total > 0) {
      text += fmt::format(" · off-CPU {} total", duration(as_double(row.off_cpu.total)));
    }
  }
  const std::string excluded = excluded_calls(row.incomplete, row.unwound);
  constexpr std::size_t separator = std::string_view(" · ").size();
  return text.empty() && !excluded.empty() ? excluded.substr(separator) : text + excluded;
}

std::string line_text(const AnnotatedFile& file, const AnnotatedLine& line,
                      const FigureWidths& widths) {
  std::string text = has_figures(line) ? figures_text(file, line, widths) : std::string();
  const auto add = [&text](const std::string& more) {
    text += more.empty() || text.empty() ? more : " · " + more;
  };
  add(unwound_text(file, *line.row));
  if (!text.empty()) {
    add(tail_calls_text(file, *line.row));
  }
  if (line.time != nullptr) {
    add(line_time_text(file, line));
  }
  if (text.empty()) {
    return text;
  }
  if (file.baseline != nullptr && line.has_calls()) {
    add(change_sign(line.difference));
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
