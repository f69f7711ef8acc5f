// Hovers, in Markdown.
#include "server/annotations/hover.hpp"

#include "export/json/json.hpp"
#include "export/text/latency_text.hpp"
#include "export/text/units.hpp"
#include "measure/selection/call_subset.hpp"
#include "measure/selection/select_calls.hpp"
#include "server/annotations/annotation_text.hpp"
#include "server/annotations/line_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

// Returns a bar in eighths of a cell, padded to the full width; a value above 0 is always visible.
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
    const bool below = bucket.low == 0 && bucket.high > 1;
    const std::string from = duration(as_double(below ? bucket.high : bucket.low));
    text += fmt::format("{:>10} │{}│ {}\n", (below ? "< " : "") + from, bar(bucket.calls, most),
                        bucket.calls == 0 ? "" : count(bucket.calls));
  }
  return text + "```";
}

// Returns the mean with its uncertainty, which is at least that of the recording's timing.
std::string mean_text(const measure::RecordingInfo& recording,
                      const measure::LatencyStats& latency) {
  if (latency.corrected) {
    return measure::is_below_resolution(latency.mean, latency.within.mean)
               ? "mean " + exporting::explained_mean(latency)
               : fmt::format("mean {} ± {}", duration(latency.mean), duration(latency.within.mean));
  }
  const std::uint64_t uncertainty =
      std::max(latency.uncertainty, recording.uncertainty_ns.value_or(0));
  return fmt::format("mean {} ± {}", duration(latency.mean), duration(as_double(uncertainty)));
}

std::string latencies(const measure::LatencyStats& latency) {
  return fmt::format("\n\n| min | p50 | p90 | p99 | p99.9 | max | total |\n"
                     "|--:|--:|--:|--:|--:|--:|--:|\n| {} | {} | {} | {} | {} | {} | {} |",
                     exporting::min_text(latency), exporting::p50_text(latency),
                     exporting::p90_text(latency), exporting::p99_text(latency),
                     exporting::p999_text(latency), exporting::max_text(latency),
                     exporting::total_text(latency));
}

std::string off_cpu(const measure::RecordingInfo& recording, const measure::Report& report) {
  const std::string split = cpu_split(recording, report.latency, report.off_cpu);
  if (split.empty()) {
    return {};
  }
  std::string text =
      fmt::format("\n\n{} · cpu {}", split, exporting::percentage(report.cpu_percent));
  if (report.off_cpu.total > 0) {
    text += fmt::format(
        "; off-CPU {}: {} blocked, {} preempted, in {}", duration(as_double(report.off_cpu.total)),
        duration(as_double(report.off_cpu.blocked)), duration(as_double(report.off_cpu.preempted)),
        count(report.off_cpu.calls, "call"));
  }
  return text;
}

std::string callers(const measure::Measurement& measurement, const measure::Report& report) {
  if (report.callers.empty()) {
    return {};
  }
  std::string text = "\n\nCallers";
  for (std::size_t index = 0; index < std::min(report.callers.size(), most_callers); ++index) {
    const measure::RelatedRow& row = report.callers[index];
    const bool has_line = measurement.sites.has(row.site) && measurement.sites[row.site].line > 0;
    text += "\n- " + code_text(name_of(measurement, row.function));
    if (has_line) {
      text += fmt::format(" line {}", measurement.sites[row.site].line);
    }
    text += fmt::format(": {}, mean {}", count(row.latency.calls, "call"),
                        exporting::mean_text(row.latency));
  }
  if (report.callers.size() > most_callers) {
    text += fmt::format("\n- and {} more", count(report.callers.size() - most_callers));
  }
  return text;
}

std::string slowest(const measure::Measurement& measurement, stacks::FunctionId function) {
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
  std::string text = "\n\nSlowest calls";
  for (std::size_t index = 0; index < shown; ++index) {
    const std::uint32_t call = selected.calls[index];
    const exporting::CallFigures figures = exporting::figures_of(measurement, table, call);
    const double within = table.removed[call] != 0 ? as_double(figures.within) : 0;
    text +=
        fmt::format("\n- {}", exporting::figure(as_double(figures.latency.value_or(0)), within));
    if (measurement.recording.off_cpu_known) {
      text += fmt::format(", off-CPU {}", duration(as_double(table.off_cpu(call))));
    }
    text +=
        fmt::format(", thread {}, {} after the start", measurement.threads[table.thread[call]].tid,
                    duration(as_double(table.start[call] - start)));
  }
  return text;
}

// Returns how the recording was made and what it lost.
std::string method(const measure::RecordingInfo& recording) {
  std::string means = exporting::probes_text(recording);
  means = means.empty() ? "Measured with Intel Processor Trace" : 'M' + means.substr(1);
  std::string text =
      fmt::format("\n\n{}, {} traced, ", means, duration(as_double(recording.trace_ns)));
  if (recording.gaps == 0 && recording.lost_records == 0 && recording.lost_ns == 0) {
    return text + "nothing lost";
  }
  if (recording.lost_ns > 0) {
    text += duration(as_double(recording.lost_ns)) + " of ";
  }
  text += "trace lost in " + count(recording.gaps, "gap");
  if (recording.lost_records > 0) {
    text += fmt::format("; {} dropped", count(recording.lost_records, "record"));
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

std::string links(const AnnotatedFile& file, stacks::FunctionId function) {
  Json argument = exporting::function_json(file.measurement(), function);
  argument.erase("file");
  argument.erase("line");
  argument["id"] = file.recording->id;
  std::string text = "\n\n";
  static constexpr std::array<std::pair<const char*, const char*>, 5> views = {
      {{"Figures", "figures"},
       {"Flame graph", "flame"},
       {"Histogram", "histogram"},
       {"Callers", "callers"},
       {"Children", "children"}}};
  for (const auto& [title, view] : views) {
    argument["view"] = view;
    text += fmt::format("{}[{}](command:ptlens.showFunction?{})", text.size() == 2 ? "" : " · ",
                        title, percent_encoded(exporting::dump(Json::array({argument}))));
  }
  return text + " · [All functions](command:ptlens.showFlameGraph)";
}

std::string function_hover(const AnnotatedFile& file, const AnnotatedFunction& function,
                           const HoverStyle& style) {
  const measure::Measurement& measurement = file.measurement();
  const measure::RecordingInfo& recording = measurement.recording;
  const stacks::FunctionId index = function.entry->function;
  const measure::Report report = measure::report(measurement, index, {});
  const bool timed = report.latency.calls > 0 && recording.uncertainty_ns.has_value();
  std::string text = code_text(name_of(measurement, index));
  text += style.links ? links(file, index) : std::string();
  if (const std::string stale = staleness_sentences(function.staleness); !stale.empty()) {
    text += "\n\n*" + stale + "*";
  }
  text += "\n\n";
  text += report.latency.calls == 0 ? "no complete call" : count(report.latency.calls, "call");
  if (timed) {
    text += ", " + mean_text(recording, report.latency);
  } else if (report.latency.calls > 0) {
    text += " · no timing";
  }
  text += excluded_calls(report.incomplete, report.unwound);
  if (file.baseline != nullptr) {
    text += "\n\n" + change_sentences(function.difference);
  }
  if (timed) {
    text += latencies(report.latency) + off_cpu(recording, report) + histogram(report.histogram) +
            callers(measurement, report) + slowest(measurement, index);
  } else {
    text += callers(measurement, report);
  }
  return text;
}

// Returns a link that measures the function with probes of its own; with a trace, which contains
// what the function does, the link shows it.
std::string deeper_link(const AnnotatedFile& file, stacks::FunctionId function) {
  const stacks::FunctionInfo& info = file.measurement().functions[function];
  if (!info.binary.starts_with('/')) {
    return {};
  }
  Json argument = exporting::function_json(file.measurement(), function);
  argument["id"] = file.recording->id;
  return fmt::format(" · [Go Deeper](command:ptlens.goDeeper?{})",
                     percent_encoded(exporting::dump(Json::array({argument}))));
}

std::string line_hover(const AnnotatedFile& file, const AnnotatedLine& line,
                       const HoverStyle& style) {
  const measure::Measurement& measurement = file.measurement();
  const measure::LineRow& row = *line.row;
  const bool timed = measurement.recording.uncertainty_ns.has_value();
  std::string text = line.has_calls() ? fmt::format("Calls from this line: {}",
                                                    line_calls_text(measurement.recording, row))
                                      : std::string();
  if (line.time != nullptr) {
    text += (text.empty() ? "" : "\n\n") + line_time_sentences(file, line);
  }
  if (const std::string stale = staleness_sentences(line.staleness); !stale.empty()) {
    text += "\n\n*" + stale + "*";
  }
  if (file.baseline != nullptr && line.has_calls()) {
    text += "\n\n" + change_sentences(line.difference);
  }
  if (row.latency.calls > 0 && timed) {
    text += "\n\n" + mean_text(measurement.recording, row.latency) + latencies(row.latency);
  }
  for (std::size_t index = 0; index < std::min(row.callees.size(), most_callees); ++index) {
    const measure::LineCallee& callee = row.callees[index];
    text +=
        fmt::format("\n{}- {} {}", index == 0 ? "\n" : "",
                    code_text(name_of(measurement, callee.function)), count(callee.calls, "call"));
    if (callee.calls > 0 && timed) {
      text += fmt::format(", mean {}", exporting::figure(callee.mean, callee.within));
    }
    text += excluded_calls(callee.incomplete, callee.unwound);
    text += style.links ? deeper_link(file, callee.function) : std::string();
  }
  if (row.callees.size() > most_callees) {
    text += fmt::format("\n- and {} more", count(row.callees.size() - most_callees));
  }
  return text;
}

} // namespace

Json hover(const AnnotatedFile& file, std::uint32_t line, const HoverStyle& style) {
  std::string text;
  for (const AnnotatedFunction& function : file.functions) {
    if (function.line == line) {
      text += (text.empty() ? "" : "\n\n---\n\n") + function_hover(file, function, style);
    }
  }
  for (const AnnotatedLine& row : file.rows) {
    if (row.line == line) {
      text += (text.empty() ? "" : "\n\n---\n\n") + line_hover(file, row, style);
    }
  }
  if (text.empty()) {
    return nullptr;
  }
  const Json position = {{"line", line > 0 ? line - 1 : 0}, {"character", 0}};
  return {
      {"contents", {{"kind", "markdown"}, {"value", text + method(file.measurement().recording)}}},
      {"range", {{"start", position}, {"end", position}}}};
}

} // namespace ptlens::server
