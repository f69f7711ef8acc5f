// Hovers, in Markdown.
#include "server/annotations/hover.hpp"

#include "export/explain/sentence.hpp"
#include "export/json/function_json.hpp"
#include "export/text/latency_text.hpp"
#include "export/text/tail_calls.hpp"
#include "export/text/units.hpp"
#include "measure/explain/explain.hpp"
#include "server/annotations/annotation_text.hpp"
#include "server/annotations/line_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::server {
namespace {

using exporting::as_double;
using exporting::count;
using exporting::duration;

constexpr std::size_t most_callees = 10;

// A percentile that needs more calls than there are is "–".
std::string latencies(const measure::LatencyStats& latency) {
  const auto from = [&](std::uint64_t calls, const std::string& text) {
    return latency.calls < calls ? "–" : text;
  };
  return fmt::format("\n\n| p50 | p90 | p99 | p99.9 | max | mean |\n"
                     "|--:|--:|--:|--:|--:|--:|\n| {} | {} | {} | {} | {} | {} |",
                     exporting::p50_text(latency), from(10, exporting::p90_text(latency)),
                     from(100, exporting::p99_text(latency)),
                     from(1000, exporting::p999_text(latency)), exporting::max_text(latency),
                     exporting::mean_text(latency));
}

// Returns the answer to "why slow?", or why there is none; nothing where it would take long.
std::string answer(const measure::Measurement& measurement, const measure::Report& report) {
  constexpr std::uint64_t most_calls = 200'000; // which take some milliseconds
  const measure::LatencyStats& latency = report.latency;
  if (latency.calls < fewest_for_typical) {
    return fmt::format("\n\n{}: too few to say what is typical.", count(latency.calls, "call"));
  }
  if (!has_tail(measurement.recording, latency)) {
    return fmt::format("\n\nTypically {}, and steady: 1 call in 100 takes over {}.",
                       exporting::p50_text(latency), exporting::p99_text(latency));
  }
  if (latency.calls > most_calls) {
    return {};
  }
  const auto explanation = measure::explain(measurement, report.function, {}, {});
  return explanation ? "\n\n**" + exporting::explain_sentence(measurement, *explanation) + "**"
                     : std::string();
}

// Returns how the recording was made, how well its times are known, and what it lost: "Intel PT, ±
// 8 ns · 38.0 ms of 1.61 s lost".
std::string method(const measure::RecordingInfo& recording) {
  std::string text = exporting::probes_text(recording);
  text = "\n\n" + (text.empty() ? "Measured with Intel Processor Trace" : 'M' + text.substr(1));
  if (recording.uncertainty_ns) {
    text += ", ± " + duration(as_double(*recording.uncertainty_ns));
  }
  if (recording.gaps == 0 && recording.lost_records == 0 && recording.lost_ns == 0) {
    text += fmt::format(" · nothing of {} lost", duration(as_double(recording.trace_ns)));
  } else if (recording.lost_ns > 0) {
    text += fmt::format(" · {} of {} lost", duration(as_double(recording.lost_ns)),
                        duration(as_double(recording.trace_ns)));
  } else if (recording.gaps > 0) {
    text += " · trace lost in " + count(recording.gaps, "gap");
  }
  if (recording.lost_records > 0) {
    text += fmt::format(" · {} dropped", count(recording.lost_records, "record"));
  }
  if (!recording.missing.empty()) {
    text += fmt::format(
        " · the code of {} is missing",
        recording.missing.size() == 1 ? "1 binary" : count(recording.missing.size()) + " binaries");
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

std::string links(const AnnotatedFile& file, stacks::FunctionId function, bool tail) {
  Json argument = exporting::function_json(file.measurement(), function);
  argument.erase("file");
  argument.erase("line");
  argument["id"] = file.recording->id;
  std::string text = "\n\n";
  std::vector<std::pair<const char*, const char*>> views = {
      {"Slowest call", "calls"}, {"Flame graph", "flame"}, {"Open panel", "figures"}};
  if (tail) {
    views.insert(views.begin(), {"Why slow?", "why"});
  }
  for (const auto& [title, view] : views) {
    argument["view"] = view;
    text += fmt::format("{}[{}](command:ptlens.showFunction?{})", text.size() == 2 ? "" : " · ",
                        title, percent_encoded(exporting::dump(Json::array({argument}))));
  }
  return text;
}

std::string function_hover(const AnnotatedFile& file, const AnnotatedFunction& function,
                           const HoverStyle& style) {
  const measure::Measurement& measurement = file.measurement();
  const measure::RecordingInfo& recording = measurement.recording;
  const stacks::FunctionId index = function.entry->function;
  const measure::Report report = measure::report(measurement, index, {});
  const bool timed = report.latency.calls > 0 && recording.uncertainty_ns.has_value();
  std::string text = "**" + code_text(name_of(measurement, index)) + "** ";
  text += report.latency.calls == 0 ? "no complete call" : count(report.latency.calls, "call");
  if (timed) {
    text += " · " + exporting::total_text(report.latency);
    if (const std::string off = off_cpu_share(recording, report.latency, report.off_cpu);
        !off.empty()) {
      text += fmt::format(" · {} off-CPU", off);
    }
  } else if (report.latency.calls > 0) {
    text += " · no timing";
  }
  text += excluded_calls(report.incomplete, report.unwound);
  if (const std::string stale = staleness_sentences(function.staleness); !stale.empty()) {
    text += "\n\n*" + stale + "*";
  }
  if (timed) {
    text += latencies(report.latency);
  }
  if (file.baseline != nullptr) {
    text += "\n\n" + change_sentences(function.difference);
  }
  if (timed) {
    text += answer(measurement, report);
  }
  return text + (style.links ? links(file, index, has_tail(recording, report.latency)) : "");
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
    text += latencies(row.latency);
  }
  for (std::size_t index = 0; index < std::min(row.callees.size(), most_callees); ++index) {
    const measure::LineCallee& callee = row.callees[index];
    const std::string tail = exporting::tail_call_text(measurement, callee);
    text += fmt::format("\n{}- {} {}", index == 0 ? "\n" : "",
                        code_text(tail.empty() ? name_of(measurement, callee.function) : tail),
                        count(callee.calls, "call"));
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
