// Line annotations.
#include "server/annotations/line_annotations.hpp"

#include "export/difference.hpp"
#include "export/line_times.hpp"
#include "server/annotations/annotation_text.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

namespace ptlens::server {
namespace {

bool holds(const LineSpan& span, const AnnotatedLine& line) {
  return span.first <= line.line && line.line <= span.last;
}

// As exporting::line_time_json, of present lines.
Json line_time(const AnnotatedFile& file, const AnnotatedLine& line) {
  Json json = exporting::line_time_json(*line.time, file.times->timed);
  json.erase("line");
  json["shared_with"] = exporting::line_ranges(line.shared_with);
  return json;
}

} // namespace

Json inlay_hints(const AnnotatedFile& file, const LineSpan& span, const Words& say) {
  Json hints = Json::array();
  for (const AnnotatedLine& line : file.rows) {
    if (!holds(span, line) || line.line == 0) {
      continue;
    }
    std::string label = line_text(say, file.measurement().recording, *line.row);
    if (line.time != nullptr) {
      label += (label.empty() ? "" : " · ") + line_time_text(say, file, line);
    }
    if (file.baseline != nullptr && line.has_calls()) {
      label += " · " + change_text(say, line.difference);
    }
    if (const std::string mark = stale_mark(say, file.text, line.changed, line.old_binary);
        !mark.empty()) {
      label += fmt::format(" ({})", mark);
    }
    const bool has_line = file.shown != nullptr && line.line <= file.shown->lengths.size();
    const std::uint32_t end = has_line ? file.shown->lengths[line.line - 1] : 0;
    hints.push_back({{"position", {{"line", line.line - 1}, {"character", end}}},
                     {"label", std::move(label)},
                     {"paddingLeft", true}});
  }
  return hints;
}

Json line_annotations(const AnnotatedFile& file, const LineSpan& span, bool heat) {
  Json lines = Json::array();
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
                 {"changed", line.changed},
                 {"old_binary", line.old_binary}};
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
                 {"text", word(file.text)},
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
