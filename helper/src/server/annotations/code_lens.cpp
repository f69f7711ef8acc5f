// Code lenses.
#include "server/annotations/code_lens.hpp"

#include "export/json/function_json.hpp"
#include "export/text/units.hpp"
#include "server/annotations/annotation_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

namespace ptlens::server {
namespace {

using exporting::as_double;
using exporting::count;
using exporting::duration;

std::string loss(const measure::RecordingInfo& recording) {
  constexpr double shown_from = 1;
  const double share = recording.trace_ns == 0
                           ? 0
                           : 100 * as_double(recording.lost_ns) / as_double(recording.trace_ns);
  return share < shown_from || measure::is_estimate(recording)
             ? std::string()
             : fmt::format(" · ⚠ {:.0f} % lost", share);
}

std::string brief(std::uint64_t ns, std::uint64_t within) {
  return exporting::brief_figure(as_double(ns), as_double(within));
}

std::string slowest(const measure::LatencyStats& latency) {
  return latency.calls < fewest_for_typical ? "max " + brief(latency.max, latency.within.max)
                                            : "p99 " + brief(latency.p99, latency.within.p99);
}

Json lens(std::uint32_t line, std::string title, const Json& argument) {
  const Json position = {{"line", line > 0 ? line - 1 : 0}, {"character", 0}};
  return {{"range", {{"start", position}, {"end", position}}},
          {"command",
           {{"title", std::move(title)},
            {"command", "ptlens.showFunction"},
            {"arguments", Json::array({argument})}}}};
}

} // namespace

std::string lens_title(const measure::RecordingInfo& recording, const measure::Report& report) {
  const measure::LatencyStats& latency = report.latency;
  std::string text;
  if (latency.calls == 0) {
    text = "no complete call" + excluded_calls(report.incomplete, report.unwound);
  } else if (!recording.uncertainty_ns) {
    text = count(latency.calls, "call") + " · no timing";
  } else if (latency.calls == 1) {
    text = brief(latency.max, latency.within.max) + " · 1 call";
  } else {
    text = fmt::format("{} typical · {} · {}", brief(latency.p50, latency.within.p50),
                       slowest(latency), count(latency.calls, "call"));
  }
  if (latency.calls > 0 && recording.uncertainty_ns) {
    const std::string share = off_cpu_share(recording, latency, report.off_cpu);
    text += share.empty() ? "" : fmt::format(" · {} off-CPU", share);
  }
  return text + loss(recording);
}

Json code_lenses(const AnnotatedFile& file, bool links) {
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
    Json argument = {{"id", file.recording->id},
                     {"name", identity["name"]},
                     {"binary", identity["binary"]},
                     {"address", identity["address"]}};
    lenses.push_back(lens(function.line, std::move(title), argument));
    if (links && has_tail(measurement.recording, function.entry->report.latency)) {
      argument["view"] = "why";
      lenses.push_back(lens(function.line, "Why slow?", argument));
    }
  }
  return lenses;
}

} // namespace ptlens::server
