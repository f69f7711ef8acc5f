// The report on one function, for the terminal.
#include "export/text/latency_text.hpp"
#include "export/text/loss.hpp"
#include "export/text/table.hpp"
#include "export/text/text.hpp"
#include "export/text/units.hpp"
#include "measure/names/names.hpp"
#include "measure/selection/selection_text.hpp"
#include "measure/thread_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace ptlens::exporting {

namespace {

constexpr std::size_t bar_length = 40;

std::string location(const std::string& file, std::uint32_t line) {
  return file.empty() ? "" : fmt::format("{}:{}", printable(base_name(file)), line);
}

std::string heading(const measure::Measurement& measurement, stacks::FunctionId function) {
  if (!measurement.functions.has(function)) {
    return "[unknown]\n";
  }
  const stacks::FunctionInfo& info = measurement.functions[function];
  std::string text = fmt::format("{}\n  {} in {}", printable(info.name), hexadecimal(info.address),
                                 printable(info.binary));
  if (!info.file.empty()) {
    text += fmt::format(", {}:{}", printable(info.file), info.line);
  }
  if (const auto others = measure::other_names(info); !others.empty()) {
    text += fmt::format("\n  also named {}", printable(fmt::format("{}", fmt::join(others, ", "))));
  }
  return text + '\n';
}

std::string instances_heading(const measure::Measurement& measurement,
                              const measure::Report& report) {
  return fmt::format("{}\n  {} together\n", printable(measure::common_name(measurement, report)),
                     count(report.instances.size(), "function"));
}

// Returns an empty table for code with several entries, one row each. `location` is the heading of
// the last column.
Table table_of_entries(const char* location) {
  return Table({"calls", "mean", "p99", "total", "incomplete", "unwound", "entry",
                text_column("function"), text_column(location)});
}

std::string instances(const measure::Measurement& measurement, const measure::Report& report) {
  if (report.instances.empty()) {
    return {};
  }
  Table table = table_of_entries("declared");
  for (const measure::InstanceRow& row : report.instances) {
    const stacks::FunctionInfo& info = measurement.functions[row.function];
    table.add({count(row.complete), mean_text(row.latency), p99_text(row.latency),
               total_text(row.latency), some(row.incomplete), some(row.unwound),
               hexadecimal(info.address), printable(info.name), location(info.file, info.line)});
  }
  return "\nEach function\n" + table.text(2);
}

std::string excluded(const measure::Report& report) {
  std::string text;
  if (report.incomplete > 0 && !report.states.has(stacks::CallState::incomplete)) {
    text += fmt::format(
        "! {} incomplete, not in the figures: start or end is missing, or trace was lost\n",
        count(report.incomplete, "call"));
  }
  if (report.unwound > 0 && !report.states.has(stacks::CallState::unwound)) {
    text += fmt::format(
        "! {} unwound, not in the figures: ended by an exception, longjmp or thread exit\n",
        count(report.unwound, "call"));
  }
  return text.empty() ? text : text + '\n';
}

// The time on a CPU is only known where the time off it is.
std::string cpu_share(const measure::RecordingInfo& recording, double percent) {
  return recording.off_cpu_known ? percentage(percent) : "unknown";
}

std::string why_off_cpu_is_unknown(const measure::RecordingInfo& recording) {
  return std::ranges::find(recording.notes, "goroutines_off_cpu", &Note::code) !=
                 recording.notes.end()
             ? "goroutines wait while their threads run others"
             : "no context switches were recorded";
}

std::string figures(const measure::Measurement& measurement, const measure::Report& report) {
  const measure::LatencyStats& latency = report.latency;
  std::string text =
      fmt::format("Calls     {} complete, {} incomplete, {} unwound\n", count(report.complete),
                  count(report.incomplete), count(report.unwound));
  if (latency.calls == 0 || !measurement.recording.uncertainty_ns) {
    return text;
  }
  if (report.states != stacks::CallStates{stacks::CallState::complete}) {
    text += fmt::format("Figures   of {} calls\n", measure::states_text(report.states));
  }
  text += fmt::format("Latency   mean {}, stddev {}, total {}, CPU {}\n", explained_mean(latency),
                      duration(latency.stddev), total_text(latency),
                      cpu_share(measurement.recording, report.cpu_percent));
  Table percentiles({"min", "p50", "p90", "p99", "p99.9", "max"});
  percentiles.add({min_text(latency), p50_text(latency), p90_text(latency), p99_text(latency),
                   p999_text(latency), max_text(latency)});
  text += percentiles.text(10);
  if (measurement.recording.off_cpu_known) {
    text += fmt::format("On-CPU    mean {}, total {}\n",
                        figure(report.on_cpu_mean, report.on_cpu_within),
                        figure(as_double(report.on_cpu_total), report.on_cpu_total_within));
    const measure::OffCpuStats& off = report.off_cpu;
    text += fmt::format("Off-CPU   mean {}, total {} ({} blocked, {} preempted), {} in {}\n",
                        duration(off.mean), duration(as_double(off.total)),
                        duration(as_double(off.blocked)), duration(as_double(off.preempted)),
                        count(off.switches, "switch-out"), count(off.calls, "call"));
  } else {
    text += fmt::format("Off-CPU   unknown: {}\n", why_off_cpu_is_unknown(measurement.recording));
  }
  if (report.outside_total > 0) {
    text += fmt::format("Outside   mean {}, total {} outside user code: system calls, faults, "
                        "interrupts, off-CPU\n",
                        duration(report.outside_mean), duration(as_double(report.outside_total)));
  }
  text += report.self_known
              ? fmt::format("Self      mean {}, total {}\n",
                            figure(report.self_mean, report.self_within),
                            figure(as_double(report.self_total), report.self_total_within))
              : "Self      unknown: some callees were not measured\n";
  return text;
}

std::string histogram(const measure::Report& report) {
  std::uint64_t most = 0;
  for (const measure::Bucket& bucket : report.histogram) {
    most = std::max(most, bucket.calls);
  }
  if (most == 0) {
    return {};
  }
  Table table({"from", "to", "calls", text_column("")});
  for (const measure::Bucket& bucket : report.histogram) {
    const auto length = [most](std::uint64_t calls) {
      return static_cast<std::size_t>(
          std::ceil(as_double(calls) * static_cast<double>(bar_length) / as_double(most)));
    };
    const std::size_t whole = length(bucket.calls);
    const std::size_t off = std::min(whole, length(bucket.off_cpu_calls));
    const bool below = bucket.low == 0 && bucket.high > 1;
    table.add({below ? "below" : duration(as_double(bucket.low)), duration(as_double(bucket.high)),
               count(bucket.calls), std::string(whole - off, '#') + std::string(off, 'o')});
  }
  return "\nHistogram of latency (o: calls that were switched out)\n" + table.text(2);
}

std::string related(const measure::Measurement& measurement, const char* title,
                    const std::vector<measure::RelatedRow>& rows) {
  if (rows.empty()) {
    return {};
  }
  Table table({"calls", "mean", "p99", "total", "off-CPU", "CPU", text_column("function"),
               text_column("call site")});
  const bool off_known = measurement.recording.off_cpu_known;
  for (const measure::RelatedRow& row : rows) {
    const bool has_function = measurement.functions.has(row.function);
    std::string site;
    if (measurement.sites.has(row.site)) {
      const stacks::CallSite& info = measurement.sites[row.site];
      site = info.file.empty() ? hexadecimal(info.address) : location(info.file, info.line);
    }
    table.add(
        {count(row.latency.calls), mean_text(row.latency), p99_text(row.latency),
         total_text(row.latency), off_known ? duration(as_double(row.off_cpu.total)) : "unknown",
         cpu_share(measurement.recording, row.cpu_percent),
         has_function ? printable(measurement.functions[row.function].name) : "[unknown]", site});
  }
  return fmt::format("\n{}\n{}", title, table.text(2));
}

std::string threads(const measure::Measurement& measurement,
                    const std::vector<measure::ThreadRow>& rows) {
  if (rows.empty()) {
    return {};
  }
  Table table({"tid", "calls", "mean", "p99", "total", "off-CPU", "incomplete", "unwound", "lost",
               text_column("name")});
  for (const measure::ThreadRow& row : rows) {
    const stacks::ThreadInfo& thread = measurement.threads[row.thread];
    table.add(
        {fmt::format("{}", thread.tid), count(row.latency.calls), mean_text(row.latency),
         p99_text(row.latency), total_text(row.latency),
         measurement.recording.off_cpu_known ? duration(as_double(row.off_cpu.total)) : "unknown",
         some(row.incomplete), some(row.unwound),
         thread.gaps > 0 ? duration(as_double(thread.lost_ns)) : std::string(),
         printable(thread.comm)});
  }
  return "\nThreads\n" + table.text(2);
}

std::string inlined_table(const measure::Measurement& measurement,
                          const measure::InlinedPart& inlined) {
  if (inlined.rows.empty()) {
    return {};
  }
  constexpr std::size_t most_rows = 30;
  Table table = table_of_entries("call site");
  for (const measure::InlinedRow& row :
       std::span(inlined.rows).first(std::min(most_rows, inlined.rows.size()))) {
    const std::string site = location(row.site.file, row.site.line);
    const std::string entry = hexadecimal(row.site.address);
    if (row.countable) {
      table.add({count(row.complete), mean_text(row.latency), p99_text(row.latency),
                 total_text(row.latency), some(row.incomplete), some(row.unwound), entry,
                 printable(row.holder.name), site});
    } else {
      table.add({"not countable", "", "", "", "", "", entry, printable(row.holder.name), site});
    }
  }
  std::string text = "\nInlined at\n" + table.text(2);
  if (inlined.rows.size() > most_rows) {
    text += fmt::format("  and {} more\n", inlined.rows.size() - most_rows);
  }
  for (const Note& note : measure::inlined_notes(inlined, measurement.recording)) {
    text += fmt::format("  {}\n", note.text);
  }
  return text;
}

} // namespace

std::string not_called_text(const measure::Measurement& measurement,
                            const measure::Report& report) {
  return fmt::format("{} was not called in {}. Measure again while the program does what calls "
                     "it, or for longer.\n\n",
                     printable(measurement.functions[report.function].name),
                     duration(as_double(measurement.recording.trace_ns)));
}

std::string report_text(const measure::Measurement& measurement, const measure::Report& report,
                        const measure::InlinedPart& inlined,
                        const std::optional<measure::LatencyStats>& raw) {
  const measure::RecordingInfo& info = measurement.recording;
  std::string text = report.instances.empty() ? heading(measurement, report.function)
                                              : instances_heading(measurement, report);
  const std::string over =
      fmt::format("{} on {}", duration(as_double(info.trace_ns)),
                  count(measure::count_threads(measurement.threads), "thread"));
  const std::string probes = probes_text(info);
  text += probes.empty()
              ? fmt::format("  measured with {} over {}\n\n", printable(info.backend), over)
              : fmt::format("  {}\n  {}\n\n", over, probes);
  text += loss_text(measurement) + excluded(report) + figures(measurement, report);
  if (raw) {
    text += fmt::format("Raw       {}: with the time of the probes\n", raw_text(*raw));
  }
  if (info.uncertainty_ns) {
    text += instances(measurement, report);
    text += histogram(report);
    text += related(measurement, "Callers", report.callers);
    text += related(measurement, "Children", report.children);
  }
  text += inlined_table(measurement, inlined);
  if (info.uncertainty_ns) {
    text += threads(measurement, report.threads);
  }
  return text + notes_text(measurement);
}

} // namespace ptlens::exporting
