// Code lenses.
#include "server/annotations/code_lens.hpp"

#include "export/json/json.hpp"
#include "export/text/latency_text.hpp"
#include "export/text/units.hpp"
#include "server/annotations/annotation_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace ptlens::server {
namespace {

using exporting::as_double;
using exporting::count;
using exporting::duration;

std::string loss(const measure::RecordingInfo& recording) {
  if (recording.lost_ns > 0) {
    return fmt::format(" · {} of trace lost", duration(as_double(recording.lost_ns)));
  }
  if (recording.lost_records > 0) {
    return fmt::format(" · {} dropped", count(recording.lost_records, "record"));
  }
  return {};
}

} // namespace

std::string lens_title(const measure::RecordingInfo& recording, const measure::Report& report) {
  const measure::LatencyStats& latency = report.latency;
  std::string text;
  if (latency.calls == 0) {
    text = "no complete call";
  } else if (!recording.uncertainty_ns) {
    text = count(latency.calls, "call") + " · no timing";
  } else {
    text =
        fmt::format("mean {} · p50 {} · p99 {} · max {} · {}", exporting::explained_mean(latency),
                    exporting::p50_text(latency), exporting::p99_text(latency),
                    exporting::max_text(latency), count(latency.calls, "call"));
    if (const std::string split = cpu_split(recording, latency, report.off_cpu); !split.empty()) {
      text += fmt::format(" · {}", split);
    }
    if (recording.off_cpu_known) {
      text += fmt::format(" · cpu {}", exporting::percentage(report.cpu_percent));
    }
  }
  return text + excluded_calls(report.incomplete, report.unwound) + loss(recording);
}

Json code_lenses(const AnnotatedFile& file) {
  Json lenses = Json::array();
  const measure::Measurement& measurement = file.measurement();
  for (std::size_t index = 0; index < file.functions.size(); ++index) {
    const AnnotatedFunction& function = file.functions[index];
    const bool shares_line =
        (index > 0 && file.functions[index - 1].line == function.line) ||
        (index + 1 < file.functions.size() && file.functions[index + 1].line == function.line);
    std::string title = lens_title(measurement.recording, function.entry->report);
    if (file.baseline != nullptr) {
      title = fmt::format("{} · {}", change_text(function.difference), title);
    }
    if (const std::string mark = staleness_text(function.staleness); !mark.empty()) {
      title = fmt::format("({}) {}", mark, title);
    }
    if (shares_line) {
      title =
          exporting::printable(measurement.functions[function.entry->function].name) + ": " + title;
    }
    const Json identity = exporting::function_json(measurement, function.entry->function);
    const Json argument = {{"id", file.recording->id},
                           {"name", identity["name"]},
                           {"binary", identity["binary"]},
                           {"address", identity["address"]}};
    const Json position = {{"line", function.line > 0 ? function.line - 1 : 0}, {"character", 0}};
    lenses.push_back({{"range", {{"start", position}, {"end", position}}},
                      {"command",
                       {{"title", std::move(title)},
                        {"command", "ptlens.showFunction"},
                        {"arguments", Json::array({argument})}}}});
  }
  return lenses;
}

} // namespace ptlens::server
