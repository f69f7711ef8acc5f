// Hovers, in Markdown.
#include "server/annotations/hover.hpp"

#include "engine/probes/probe_correction.hpp"
#include "export/units.hpp"
#include "measure/selection/select_calls.hpp"
#include "server/annotations/annotation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace ptlens::server {
namespace {

using exporting::as_double;
using exporting::count;
using exporting::duration;

constexpr std::size_t most_callees = 10;
constexpr std::size_t most_callers = 5;
constexpr std::size_t slowest_shown = 3;
constexpr std::size_t bar_cells = 24;

// A bar of eighths of a cell, padded to the full width; anything above 0 is seen.
std::string bar(std::uint64_t value, std::uint64_t most) {
  static constexpr std::array<const char*, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  auto filled = static_cast<std::size_t>(
      std::lround(8.0 * as_double(bar_cells) * as_double(value) / as_double(most)));
  if (value > 0) {
    filled = std::max<std::size_t>(filled, 1);
  }
  std::string text;
  for (std::size_t cell = 0; cell < filled / 8; ++cell) {
    text += "█";
  }
  text += eighths[filled % 8];
  return text + std::string(bar_cells - (filled + 7) / 8, ' ');
}

std::string histogram(const std::vector<measure::Bucket>& buckets) {
  std::uint64_t most = 0;
  for (const measure::Bucket& bucket : buckets) {
    most = std::max(most, bucket.calls);
  }
  if (most == 0) {
    return {};
  }
  std::string text = "\n\n```text\n";
  for (const measure::Bucket& bucket : buckets) {
    text += fmt::format("{:>8} │{}│ {}\n", duration(as_double(bucket.low)), bar(bucket.calls, most),
                        bucket.calls == 0 ? "" : count(bucket.calls));
  }
  return text + "```";
}

// Never finer than the recording's own timing.
std::string mean_text(const Words& say, const measure::RecordingInfo& recording,
                      const measure::LatencyStats& latency) {
  const std::uint64_t uncertainty =
      std::max(latency.uncertainty, recording.uncertainty_ns.value_or(0));
  return say("mean {0} ± {1}", duration(latency.mean), duration(as_double(uncertainty)));
}

std::string latencies(const Words& say, const measure::LatencyStats& latency) {
  return fmt::format("\n\n| {} | p50 | p90 | p99 | p99.9 | {} | {} |\n"
                     "|--:|--:|--:|--:|--:|--:|--:|\n| {} | {} | {} | {} | {} | {} | {} |",
                     say("min"), say("max"), say("total"), duration(as_double(latency.min)),
                     duration(as_double(latency.p50)), duration(as_double(latency.p90)),
                     duration(as_double(latency.p99)), duration(as_double(latency.p999)),
                     duration(as_double(latency.max)), duration(as_double(latency.total)));
}

std::string off_cpu(const Words& say, const measure::RecordingInfo& recording,
                    const measure::Report& report) {
  const std::string split = cpu_split(say, recording, report.latency, report.off_cpu);
  if (split.empty()) {
    return {};
  }
  std::string text =
      "\n\n" + split + " · " + say("cpu {0}", exporting::percentage(report.cpu_percent));
  if (report.off_cpu.total > 0) {
    text += "; " + say("off-CPU {0}: {1} blocked, {2} preempted, in {3}",
                       duration(as_double(report.off_cpu.total)),
                       duration(as_double(report.off_cpu.blocked)),
                       duration(as_double(report.off_cpu.preempted)),
                       say_calls(say, report.off_cpu.calls));
  }
  return text;
}

std::string callers(const Words& say, const measure::Measurement& measurement,
                    const measure::Report& report) {
  if (report.callers.empty()) {
    return {};
  }
  std::string text = "\n\n" + say("Callers");
  for (std::size_t index = 0; index < std::min(report.callers.size(), most_callers); ++index) {
    const measure::RelatedRow& row = report.callers[index];
    const bool has_line =
        row.site < measurement.sites.size() && measurement.sites[row.site].line > 0;
    text += "\n- " + code_text(name_of(measurement, row.function));
    if (has_line) {
      text += " " + say("line {0}", std::to_string(measurement.sites[row.site].line));
    }
    text += fmt::format(": {}, {}", say_calls(say, row.latency.calls),
                        say("mean {0}", duration(row.latency.mean)));
  }
  if (report.callers.size() > most_callers) {
    text += "\n- " + say("and {0} more", count(report.callers.size() - most_callers));
  }
  return text;
}

std::string slowest(const Words& say, const measure::Measurement& measurement,
                    std::uint32_t function) {
  measure::SelectedCalls selected = measure::read_selected(measurement, function, {});
  const stacks::CallTable& table = selected.subset.calls();
  std::erase_if(selected.calls, [&](std::uint32_t call) {
    return table.state[call] != stacks::CallState::complete;
  });
  const std::size_t shown = std::min(slowest_shown, selected.calls.size());
  std::ranges::partial_sort(
      selected.calls, selected.calls.begin() + static_cast<std::ptrdiff_t>(shown),
      std::ranges::greater(), [&](std::uint32_t call) { return table.latency[call]; });
  if (shown == 0) {
    return {};
  }
  const std::uint64_t start = measure::trace_start(measurement);
  std::string text = "\n\n" + say("Slowest calls");
  for (std::size_t index = 0; index < shown; ++index) {
    const std::uint32_t call = selected.calls[index];
    text += fmt::format("\n- {}", duration(as_double(table.latency[call])));
    if (measurement.recording.off_cpu_known) {
      text += ", " + say("off-CPU {0}", duration(as_double(table.off_cpu(call))));
    }
    text += ", " + say("thread {0}, {1} after the start",
                       std::to_string(measurement.threads[table.thread[call]].tid),
                       duration(as_double(table.start[call] - start)));
  }
  return text;
}

std::string corrected(const Words& say, const measure::Measurement& measurement,
                      std::uint32_t function) {
  const auto latency = engine::corrected_latency(measurement, {&function, 1}, {});
  if (!latency) {
    return {};
  }
  return "\n\n" + say("Without what the probes took ({0} ± {1} a call): mean {2}, p50 {3}, p99 {4}",
                      duration(latency->removed), duration(latency->uncertainty),
                      duration(latency->latency.mean), duration(as_double(latency->latency.p50)),
                      duration(as_double(latency->latency.p99)));
}

// How it was measured.
std::string method(const Words& say, const measure::RecordingInfo& recording) {
  const std::string traced = duration(as_double(recording.trace_ns));
  std::string text = "\n\n";
  text += recording.backend == "uprobe"
              ? say("Measured with probes, {0} traced", traced)
              : say("Measured with Intel Processor Trace, {0} traced", traced);
  if (recording.gaps == 0 && recording.lost_records == 0 && recording.lost_ns == 0) {
    return text + ", " + say("nothing lost");
  }
  const std::string gaps = say_gaps(say, recording.gaps);
  text += ", ";
  text += recording.lost_ns == 0
              ? say("trace lost in {0}", gaps)
              : say("{0} of trace lost in {1}", duration(as_double(recording.lost_ns)), gaps);
  if (recording.lost_records > 0) {
    text += "; " + say("{0} dropped", say_records(say, recording.lost_records));
  }
  return text;
}

std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char byte : text) {
    const auto value = static_cast<unsigned char>(byte);
    if ((value >= '0' && value <= '9') || (value >= 'A' && value <= 'Z') ||
        (value >= 'a' && value <= 'z')) {
      encoded += byte;
    } else {
      encoded += fmt::format("%{:02X}", value);
    }
  }
  return encoded;
}

std::string links(const Words& say, const AnnotatedFile& file, std::uint32_t function) {
  Json argument = exporting::function_json(file.measurement(), function);
  argument.erase("file");
  argument.erase("line");
  argument["id"] = file.recording->id;
  std::string text = "\n\n";
  const std::array<std::pair<std::string, const char*>, 5> views = {
      {{say("Figures"), "figures"},
       {say("Flame graph"), "flame"},
       {say("Histogram"), "histogram"},
       {say("Callers"), "callers"},
       {say("Children"), "children"}}};
  for (const auto& [title, view] : views) {
    argument["view"] = view;
    text += fmt::format("{}[{}](command:ptlens.showFunction?{})", text.size() == 2 ? "" : " · ",
                        title, percent_encoded(exporting::dump(Json::array({argument}))));
  }
  return text + " · [" + say("All functions") + "](command:ptlens.showFlameGraph)";
}

std::string function_hover(const Words& say, const AnnotatedFile& file,
                           const AnnotatedFunction& function, const HoverStyle& style) {
  const measure::Measurement& measurement = file.measurement();
  const measure::RecordingInfo& recording = measurement.recording;
  const std::uint32_t index = function.entry->function;
  const measure::Report report = measure::report(measurement, index, {});
  const bool timed = report.latency.calls > 0 && recording.uncertainty_ns.has_value();
  std::string text = code_text(name_of(measurement, index));
  text += style.links ? links(say, file, index) : std::string();
  if (const std::string stale =
          stale_sentences(say, file.text, function.changed, function.old_binary);
      !stale.empty()) {
    text += "\n\n*" + stale + "*";
  }
  text += "\n\n";
  text +=
      report.latency.calls == 0 ? say("no complete call") : say_calls(say, report.latency.calls);
  if (timed) {
    text += ", " + mean_text(say, recording, report.latency);
  } else if (report.latency.calls > 0) {
    text += " · " + say("no timing");
  }
  text += left_out(say, report.incomplete, report.unwound);
  if (file.baseline != nullptr) {
    text += "\n\n" + change_sentence(say, function.difference);
  }
  if (timed) {
    text += latencies(say, report.latency) + corrected(say, measurement, index) +
            off_cpu(say, recording, report) + histogram(report.histogram) +
            callers(say, measurement, report) + slowest(say, measurement, index);
  } else {
    text += callers(say, measurement, report);
  }
  return text;
}

std::string line_hover(const Words& say, const AnnotatedFile& file, const AnnotatedLine& line) {
  const measure::Measurement& measurement = file.measurement();
  const measure::LineRow& row = *line.row;
  const bool timed = measurement.recording.uncertainty_ns.has_value();
  std::string text = line.has_calls() ? say("Calls from this line: {0}",
                                            line_text(say, measurement.recording, row))
                                      : std::string();
  if (line.time != nullptr) {
    text += (text.empty() ? "" : "\n\n") + line_time_sentence(say, file, line);
  }
  if (const std::string stale = stale_sentences(say, file.text, line.changed, line.old_binary);
      !stale.empty()) {
    text += "\n\n*" + stale + "*";
  }
  if (file.baseline != nullptr && line.has_calls()) {
    text += "\n\n" + change_sentence(say, line.difference);
  }
  if (row.latency.calls > 0 && timed) {
    text +=
        "\n\n" + mean_text(say, measurement.recording, row.latency) + latencies(say, row.latency);
  }
  for (std::size_t index = 0; index < std::min(row.callees.size(), most_callees); ++index) {
    const measure::LineCallee& callee = row.callees[index];
    text +=
        fmt::format("\n{}- {} {}", index == 0 ? "\n" : "",
                    code_text(name_of(measurement, callee.function)), say_calls(say, callee.calls));
    if (callee.calls > 0 && timed) {
      text += ", " + say("mean {0}", duration(callee.mean));
    }
  }
  if (row.callees.size() > most_callees) {
    text += "\n- " + say("and {0} more", count(row.callees.size() - most_callees));
  }
  return text;
}

} // namespace

Json hover(const AnnotatedFile& file, std::uint32_t line, const HoverStyle& style,
           const Words& say) {
  std::string text;
  for (const AnnotatedFunction& function : file.functions) {
    if (function.line == line) {
      text += (text.empty() ? "" : "\n\n---\n\n") + function_hover(say, file, function, style);
    }
  }
  for (const AnnotatedLine& row : file.rows) {
    if (row.line == line) {
      text += (text.empty() ? "" : "\n\n---\n\n") + line_hover(say, file, row);
    }
  }
  if (text.empty()) {
    return nullptr;
  }
  const Json position = {{"line", line > 0 ? line - 1 : 0}, {"character", 0}};
  return {{"contents",
           {{"kind", "markdown"}, {"value", text + method(say, file.measurement().recording)}}},
          {"range", {{"start", position}, {"end", position}}}};
}

} // namespace ptlens::server
