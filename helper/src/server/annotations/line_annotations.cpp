// Line annotations.
#include "server/annotations/line_annotations.hpp"

#include "export/difference.hpp"
#include "export/line_times.hpp"
#include "export/table.hpp"
#include "export/units.hpp"
#include "server/annotations/line_text.hpp"

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

// Returns exporting::line_time_json with the numbers of present lines.
Json line_time(const AnnotatedFile& file, const AnnotatedLine& line) {
  Json json = exporting::line_time_json(*line.time, file.times->timed);
  json.erase("line");
  json["shared_with"] = exporting::line_ranges(line.shared_with);
  return json;
}

// Returns for each function, by index, how wide the largest count of its lines is.
std::vector<std::size_t> count_widths(const AnnotatedFile& file, const LineSpan& span) {
  std::vector<std::size_t> widths(file.functions.size() + 1, 0);
  for (const AnnotatedLine& line : file.rows) {
    if (holds(span, line)) {
      std::size_t& width = widths[line.function];
      width = std::max(width, exporting::width(exporting::count(line.row->latency.calls)));
    }
  }
  return widths;
}

constexpr std::size_t duration_width = 7; // of "1.23 µs", "12.3 ms" and "1,204 s"

} // namespace

Json inlay_hints(const AnnotatedFile& file, const LineSpan& span) {
  Json hints = Json::array();
  for (const AnnotatedLine& line : file.rows) {
    if (!holds(span, line) || line.line == 0) {
      continue;
    }
    const bool has_line = file.shown != nullptr && line.line <= file.shown->lengths.size();
    const std::uint32_t end = has_line ? file.shown->lengths[line.line - 1] : 0;
    hints.push_back({{"position", {{"line", line.line - 1}, {"character", end}}},
                     {"label", line_text(file, line)},
                     {"paddingLeft", true}});
  }
  return hints;
}

Json line_annotations(const AnnotatedFile& file, const LineSpan& span, bool heat) {
  Json lines = Json::array();
  const std::vector<std::size_t> widths = count_widths(file, span);
  for (const AnnotatedLine& line : file.rows) {
    if (!holds(span, line)) {
      continue;
    }
    const measure::LineRow& row = *line.row;
    Json json = {{"line", line.line},
                 {"function_line",
                  line.function < file.functions.size() ? file.functions[line.function].line : 0},
                 {"calls", row.latency.calls},
                 {"mean", row.latency.mean},
                 {"total", row.latency.total},
                 {"incomplete", row.incomplete},
                 {"unwound", row.unwound},
                 {"off_cpu", row.off_cpu.total},
                 {"staleness", source::name_of(line.staleness)},
                 {"text", line_text(file, line,
                                    {.duration = duration_width, .count = widths[line.function]})}};
    if (line.difference) {
      json["difference"] = {{"mean_percent", line.difference->mean_percent},
                            {"mean", exporting::word(line.difference->mean_verdict)},
                            {"p99_ns", line.difference->p99},
                            {"p99", exporting::word(line.difference->p99_verdict)}};
    }
    if (line.time != nullptr) {
      json["line_time"] = line_time(file, line);
    }
    lines.push_back(std::move(json));
  }
  std::set<std::string> binaries;
  for (const AnnotatedFunction& function : file.functions) {
    binaries.insert(file.measurement().functions[function.entry->function].binary);
  }
  for (const measure::LineRow& row : file.lines->lines) {
    for (const std::uint32_t function : row.holders) {
      binaries.insert(file.measurement().functions[function].binary);
    }
  }
  binaries.erase(std::string());
  Json result = {{"id", file.recording->id},
                 {"staleness", source::name_of(file.staleness)},
                 {"baseline", file.baseline != nullptr},
                 {"off_cpu_known", file.measurement().recording.off_cpu_known},
                 {"timed", file.measurement().recording.uncertainty_ns.has_value()},
                 {"hottest", file.hottest},
                 {"binaries", binaries},
                 {"lines", std::move(lines)}};
  if (heat) {
    Json line = Json::array();
    Json total = Json::array();
    for (const AnnotatedLine& row : file.rows) {
      if (row.has_calls()) {
        line.push_back(row.line);
        total.push_back(row.row->latency.total);
      }
    }
    result["heat"] = {{"line", std::move(line)}, {"total", std::move(total)}};
  }
  return result;
}

} // namespace ptlens::server
