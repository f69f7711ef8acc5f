// Line annotations.
#include "server/annotations/line_annotations.hpp"

#include "export/difference.hpp"
#include "export/line_times.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"
#include "protocol/messages.hpp"
#include "server/annotations/line_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::server {
namespace {

bool holds(const LineSpan& span, const AnnotatedLine& line) {
  return span.first <= line.line && line.line <= span.last;
}

protocol::AnnotatedLineTime line_time(const AnnotatedFile& file, const AnnotatedLine& line) {
  const line_time::LineTime& time = *line.time;
  protocol::AnnotatedLineTime result{.executions = time.executions,
                                     .shared_with = exporting::line_ranges(line.shared_with)};
  if (file.times->timed) {
    result.at_least = time.at_least;
    result.at_most = time.at_most;
    result.shared_with_others = time.shared_with_others;
  }
  if (file.times->timed && time.is_known()) {
    result.time = time.time();
    result.resolution = time.uncertainty();
  }
  return result;
}

protocol::LineDifference line_difference(const measure::Difference& difference) {
  return {.mean_percent = difference.mean.percent(),
          .mean = exporting::word(difference.mean.verdict),
          .p99_ns = difference.p99.difference(),
          .p99 = exporting::word(difference.p99.verdict)};
}

// Returns how wide the figures of the file's lines are: the columns are the same in all of it.
FigureWidths figure_widths(const AnnotatedFile& file) {
  constexpr std::size_t duration_width = 7; // of "1.23 µs", "12.3 ms" and "1,204 s"
  FigureWidths widths{.mean = duration_width, .count = 0};
  for (const AnnotatedLine& line : file.rows) {
    const measure::LatencyStats& latency = line.row->latency;
    widths.count = std::max(widths.count, exporting::width("× " + exporting::count(latency.calls)));
    widths.mean = std::max(
        widths.mean, exporting::width(exporting::brief_figure(latency.mean, latency.within.mean)));
  }
  return widths;
}

protocol::LineAnnotation annotation(const AnnotatedFile& file, const AnnotatedLine& line,
                                    const FigureWidths& widths) {
  const measure::LineRow& row = *line.row;
  protocol::LineAnnotation result{.line = line.line,
                                  .function_line = line.function < file.functions.size()
                                                       ? file.functions[line.function].line
                                                       : 0,
                                  .calls = row.latency.calls,
                                  .mean = row.latency.mean,
                                  .total = row.latency.total,
                                  .incomplete = row.incomplete,
                                  .unwound = row.unwound,
                                  .off_cpu = row.off_cpu.total,
                                  .share = line.share,
                                  .waiting = line.is_mostly_waiting(),
                                  .staleness = source::name_of(line.staleness),
                                  .text = line_text(file, line, widths)};
  if (line.difference) {
    result.difference = line_difference(*line.difference);
  }
  if (line.time != nullptr) {
    result.line_time = line_time(file, line);
  }
  return result;
}

// Returns the paths of the binaries that contain the file's functions.
std::vector<std::string> binaries_of(const AnnotatedFile& file) {
  const auto& functions = file.measurement().functions;
  std::set<std::string> binaries;
  for (const AnnotatedFunction& function : file.functions) {
    binaries.insert(functions[function.entry->function].binary);
  }
  for (const measure::LineRow& row : file.lines->lines) {
    for (const stacks::FunctionId function : row.holders) {
      binaries.insert(functions[function].binary);
    }
  }
  binaries.erase(std::string());
  return {binaries.begin(), binaries.end()};
}

} // namespace

Json inlay_hints(const AnnotatedFile& file, const LineSpan& span) {
  Json hints = Json::array();
  for (const AnnotatedLine& line : file.rows) {
    if (!holds(span, line) || line.line == 0) {
      continue;
    }
    const bool has_line = file.shown != nullptr && line.line <= file.shown->lengths.size();
    const std::uint32_t end = has_line ? file.shown->lengths[line.line - 1] : 0;
    std::string label = line_text(file, line);
    if (label.empty()) {
      continue;
    }
    hints.push_back({{"position", {{"line", line.line - 1}, {"character", end}}},
                     {"label", std::move(label)},
                     {"paddingLeft", true}});
  }
  return hints;
}

Json line_annotations(const AnnotatedFile& file, const LineSpan& span, bool heat) {
  const measure::RecordingInfo& recording = file.measurement().recording;
  protocol::AnnotationsResult result{.id = file.recording->id,
                                     .staleness = source::name_of(file.staleness),
                                     .baseline = file.baseline != nullptr,
                                     .off_cpu_known = recording.off_cpu_known,
                                     .timed = recording.uncertainty_ns.has_value(),
                                     .hottest = file.hottest,
                                     .binaries = binaries_of(file)};
  const FigureWidths widths = figure_widths(file);
  for (const AnnotatedLine& line : file.rows) {
    if (holds(span, line)) {
      result.lines.push_back(annotation(file, line, widths));
    }
  }
  if (heat) {
    protocol::Heat& columns = result.heat.emplace();
    for (const AnnotatedLine& row : file.rows) {
      if (row.has_calls()) {
        columns.line.push_back(row.line);
        columns.total.push_back(row.row->latency.total);
      }
    }
  }
  return to_json(result);
}

} // namespace ptlens::server
