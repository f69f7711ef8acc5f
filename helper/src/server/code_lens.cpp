// Code lenses.
#include "server/code_lens.hpp"

#include "export/units.hpp"
#include "server/annotation_words.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptlens::server {
namespace {

using exporting::count;
using exporting::duration;

std::string lost(const measure::RecordingInfo& recording) {
  if (recording.lost_ns > 0) {
    return fmt::format(" · {} of trace lost", duration(static_cast<double>(recording.lost_ns)));
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
  } else if (!recording.resolution_ns) {
    text = count(latency.calls, "call") + " · no timing";
  } else {
    text = fmt::format(
        "mean {} · p50 {} · p99 {} · max {} · {}", duration(latency.mean, latency.resolution),
        duration(static_cast<double>(latency.p50)), duration(static_cast<double>(latency.p99)),
        duration(static_cast<double>(latency.max)), count(latency.calls, "call"));
    if (const std::string split = cpu_split(recording, latency, report.off_cpu); !split.empty()) {
      text += fmt::format(" · {}", split);
    }
    text += fmt::format(" · cpu {}", exporting::percentage(report.cpu_percent));
  }
  return text + left_out(report.incomplete, report.unwound) + lost(recording);
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
    if (const std::string mark = stale_mark(file.text, function.changed, function.old_binary);
        !mark.empty()) {
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
