// Code lenses and hovers of the active recording.
#include "server/annotations.hpp"

#include "export/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens::server {

namespace {

using exporting::count;
using exporting::duration;

constexpr std::size_t most_callees = 10;

double real(std::uint64_t number) {
  return static_cast<double>(number);
}

Json range_of_line(std::uint32_t line) {
  const std::uint32_t zero_based = line > 0 ? line - 1 : 0;
  const Json position = {{"line", zero_based}, {"character", 0}};
  return {{"start", position}, {"end", position}};
}

// As Markdown code: nothing in a name is taken for markup.
std::string code_text(const std::string& name) {
  std::string text = exporting::printable(name);
  std::ranges::replace(text, '`', '\'');
  return '`' + text + '`';
}

std::string name_of(const measure::Measurement& measurement, std::uint32_t function) {
  return function < measurement.functions.size() ? measurement.functions[function].name
                                                 : "[unknown]";
}

std::string off_cpu_share(const measure::RecordingInfo& recording,
                          const measure::LatencyStats& latency, const measure::OffCpuStats& off) {
  if (!recording.off_cpu_known || off.total == 0 || latency.total == 0) {
    return {};
  }
  return fmt::format(" · off-CPU {}",
                     exporting::percentage(100.0 * real(off.total) / real(latency.total)));
}

std::string left_out(std::uint64_t incomplete, std::uint64_t unwound) {
  std::string text;
  if (incomplete > 0) {
    text += fmt::format(" · {} incomplete", count(incomplete));
  }
  if (unwound > 0) {
    text += fmt::format(" · {} unwound", count(unwound));
  }
  return text;
}

std::string figures(const measure::RecordingInfo& recording, const measure::LatencyStats& latency,
                    const measure::OffCpuStats& off, std::uint64_t incomplete,
                    std::uint64_t unwound) {
  std::string text;
  if (latency.calls == 0) {
    text = "no complete call";
  } else if (!recording.resolution_ns) {
    text = count(latency.calls, "call") + " · no timing";
  } else {
    text =
        fmt::format("mean {} · p50 {} · p99 {} · {}{}", duration(latency.mean, latency.resolution),
                    duration(real(latency.p50)), duration(real(latency.p99)),
                    count(latency.calls, "call"), off_cpu_share(recording, latency, off));
  }
  return text + left_out(incomplete, unwound);
}

std::string loss(const measure::RecordingInfo& recording) {
  if (recording.gaps == 0 && recording.lost_records == 0) {
    return {};
  }
  const std::string time =
      recording.lost_ns == 0 ? std::string() : duration(real(recording.lost_ns)) + " of ";
  std::string text = fmt::format("\n\n{}trace lost in {}", time, count(recording.gaps, "gap"));
  if (recording.lost_records > 0) {
    text += fmt::format("; {} dropped", count(recording.lost_records, "record"));
  }
  return text;
}

std::string function_hover(const measure::Measurement& measurement,
                           const measure::FileFunction& entry) {
  const measure::Report& report = entry.report;
  const measure::RecordingInfo& recording = measurement.recording;
  std::string text = fmt::format(
      "{}\n\n{}", code_text(name_of(measurement, entry.function)),
      figures(recording, report.latency, report.off_cpu, report.incomplete, report.unwound));
  if (report.latency.calls > 0 && recording.resolution_ns) {
    text += fmt::format(
        "\n\n| min | p50 | p90 | p99 | p99.9 | max | total |\n|--:|--:|--:|--:|--:|--:|--:|\n"
        "| {} | {} | {} | {} | {} | {} | {} |",
        duration(real(report.latency.min)), duration(real(report.latency.p50)),
        duration(real(report.latency.p90)), duration(real(report.latency.p99)),
        duration(real(report.latency.p999)), duration(real(report.latency.max)),
        duration(real(report.latency.total)));
  }
  return text;
}

std::string line_hover(const measure::Measurement& measurement, const measure::LineRow& row) {
  std::string text =
      fmt::format("Calls from this line: {}", figures(measurement.recording, row.latency,
                                                      row.off_cpu, row.incomplete, row.unwound));
  for (std::size_t index = 0; index < std::min(row.callees.size(), most_callees); ++index) {
    const measure::LineCallee& callee = row.callees[index];
    text += fmt::format("\n- {} {}", code_text(name_of(measurement, callee.function)),
                        count(callee.calls, "call"));
    if (callee.calls > 0 && measurement.recording.resolution_ns) {
      text += fmt::format(", mean {}", duration(callee.mean));
    }
  }
  if (row.callees.size() > most_callees) {
    text += fmt::format("\n- and {} more", row.callees.size() - most_callees);
  }
  return text;
}

} // namespace

std::string lens_title(const measure::RecordingInfo& recording, const measure::Report& report) {
  return figures(recording, report.latency, report.off_cpu, report.incomplete, report.unwound);
}

Json code_lenses(OpenRecording* recording, const std::string& file) {
  Json lenses = Json::array();
  if (recording == nullptr) {
    return lenses;
  }
  const auto lines = recording->lines(file);
  if (!lines) {
    return lenses;
  }
  const measure::Measurement& measurement = *recording->measurement;
  std::uint32_t previous = 0;
  const auto& functions = (*lines)->functions;
  for (std::size_t index = 0; index < functions.size(); ++index) {
    const stacks::FunctionInfo& info = measurement.functions[functions[index].function];
    const bool shares_line =
        (index > 0 && info.line == previous) ||
        (index + 1 < functions.size() &&
         measurement.functions[functions[index + 1].function].line == info.line);
    previous = info.line;
    std::string title = lens_title(measurement.recording, functions[index].report);
    if (shares_line) {
      title = exporting::printable(info.name) + ": " + title;
    }
    const Json function = exporting::function_json(measurement, functions[index].function);
    const Json argument = {{"id", recording->id},
                           {"name", function["name"]},
                           {"binary", function["binary"]},
                           {"address", function["address"]}};
    lenses.push_back({{"range", range_of_line(info.line)},
                      {"command",
                       {{"title", std::move(title)},
                        {"command", "ptlens.showFunction"},
                        {"arguments", Json::array({argument})}}}});
  }
  return lenses;
}

Json hover(OpenRecording* recording, const Place& place) {
  if (recording == nullptr) {
    return nullptr;
  }
  const auto lines = recording->lines(place.file);
  if (!lines) {
    return nullptr;
  }
  const measure::Measurement& measurement = *recording->measurement;
  std::string text;
  for (const measure::FileFunction& entry : (*lines)->functions) {
    if (measurement.functions[entry.function].line == place.line) {
      text += (text.empty() ? "" : "\n\n") + function_hover(measurement, entry);
    }
  }
  for (const measure::LineRow& row : (*lines)->lines) {
    if (row.line == place.line) {
      text += (text.empty() ? "" : "\n\n") + line_hover(measurement, row);
    }
  }
  if (text.empty()) {
    return nullptr;
  }
  return {{"contents", {{"kind", "markdown"}, {"value", text + loss(measurement.recording)}}},
          {"range", range_of_line(place.line)}};
}

} // namespace ptlens::server
