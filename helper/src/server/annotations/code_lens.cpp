// Code lenses.
#include "server/annotations/code_lens.hpp"

#include "export/units.hpp"
#include "server/annotations/annotation_text.hpp"

#include <fmt/format.h>

#include <utility>

namespace ptlens::server {
namespace {

using exporting::duration;

std::string lost(const Words& say, const measure::RecordingInfo& recording) {
  if (recording.lost_ns > 0) {
    return " · " + say("{0} of trace lost", duration(static_cast<double>(recording.lost_ns)));
  }
  if (recording.lost_records > 0) {
    return " · " + say("{0} dropped", say_records(say, recording.lost_records));
  }
  return {};
}

} // namespace

std::string lens_title(const Words& say, const measure::RecordingInfo& recording,
                       const measure::Report& report) {
  const measure::LatencyStats& latency = report.latency;
  std::string text;
  if (latency.calls == 0) {
    text = say("no complete call");
  } else if (!recording.uncertainty_ns) {
    text = say_calls(say, latency.calls) + " · " + say("no timing");
  } else {
    text = say(
        "mean {0} · p50 {1} · p99 {2} · max {3} · {4}", duration(latency.mean, latency.uncertainty),
        duration(static_cast<double>(latency.p50)), duration(static_cast<double>(latency.p99)),
        duration(static_cast<double>(latency.max)), say_calls(say, latency.calls));
    if (const std::string split = cpu_split(say, recording, latency, report.off_cpu);
        !split.empty()) {
      text += fmt::format(" · {}", split);
    }
    text += " · " + say("cpu {0}", exporting::percentage(report.cpu_percent));
  }
  return text + left_out(say, report.incomplete, report.unwound) + lost(say, recording);
}

Json code_lenses(const AnnotatedFile& file, const Words& say) {
  Json lenses = Json::array();
  const measure::Measurement& measurement = file.measurement();
  for (std::size_t index = 0; index < file.functions.size(); ++index) {
    const AnnotatedFunction& function = file.functions[index];
    const bool shares_line =
        (index > 0 && file.functions[index - 1].line == function.line) ||
        (index + 1 < file.functions.size() && file.functions[index + 1].line == function.line);
    std::string title = lens_title(say, measurement.recording, function.entry->report);
    if (file.baseline != nullptr) {
      title = fmt::format("{} · {}", change_text(say, function.difference), title);
    }
    if (const std::string mark = stale_mark(say, file.text, function.changed, function.old_binary);
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
