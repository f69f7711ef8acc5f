// The tables of all functions and of one source file, and the state of the machine.
#include "export/text/text.hpp"

#include "export/text/latency_text.hpp"
#include "export/text/loss.hpp"
#include "export/text/table.hpp"
#include "export/text/tail_calls.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace ptlens::exporting {

namespace {

std::string name_of(const measure::Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function) ? printable(measurement.functions[function].name)
                                             : "[unknown]";
}

std::string binary_of(const measure::Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function)
             ? printable(base_name(measurement.functions[function].binary))
             : "";
}

std::string heading(const measure::Measurement& measurement) {
  const std::string probes = probes_text(measurement.recording);
  return probes.empty() ? probes : probes + "\n\n";
}

std::string off_cpu_cell(const measure::Measurement& measurement, double ns) {
  return measurement.recording.off_cpu_known ? duration(ns) : "unknown";
}

} // namespace

std::string functions_text(const measure::Measurement& measurement,
                           std::span<const measure::FunctionRow> rows) {
  Table table({"calls", "mean", "inclusive", "self", "off-CPU", "incomplete", "unwound",
               text_column("function"), text_column("binary")});
  const bool timed = measurement.recording.uncertainty_ns.has_value();
  const auto time = [timed](double ns, double within) {
    return timed ? figure(ns, within) : std::string("-");
  };
  for (const measure::FunctionRow& row : rows) {
    table.add({count(row.complete), row.complete > 0 ? time(row.mean, row.mean_within) : "-",
               time(as_double(row.inclusive), as_double(row.inclusive_within)),
               row.self_known ? (timed && row.self_at_most ? "≤ " : "") +
                                    time(as_double(row.self), as_double(row.self_within))
                              : "—",
               off_cpu_cell(measurement, static_cast<double>(row.off_cpu)), some(row.incomplete),
               some(row.unwound), name_of(measurement, row.function),
               binary_of(measurement, row.function)});
  }
  const bool some_unknown =
      std::ranges::any_of(rows, std::logical_not(), &measure::FunctionRow::self_known);
  const bool some_at_most = timed && std::ranges::any_of(rows, [](const measure::FunctionRow& row) {
                              return row.self_known && row.self_at_most;
                            });
  return heading(measurement) + loss_text(measurement) + table.text(0) +
         (some_unknown ? "—: unknown, some callees were not measured\n" : "") +
         (some_at_most ? "≤: at most, what ran while trace was lost is not known\n" : "") +
         notes_text(measurement);
}

std::string lines_text(const measure::Measurement& measurement, const measure::FileLines& lines,
                       const std::string& more) {
  std::string text = heading(measurement) + loss_text(measurement) + printable(lines.file) + '\n';
  if (!lines.functions.empty()) {
    Table table(
        {"line", "calls", "mean", "p50", "p99", "off-CPU", "incomplete", text_column("function")});
    for (const measure::FileFunction& entry : lines.functions) {
      const measure::LatencyStats& latency = entry.report.latency;
      const bool some_complete = latency.calls > 0;
      table.add({fmt::format("{}", measurement.functions[entry.function].line),
                 count(entry.report.complete), some_complete ? mean_text(latency) : "-",
                 some_complete ? p50_text(latency) : "-", some_complete ? p99_text(latency) : "-",
                 off_cpu_cell(measurement, entry.report.off_cpu.mean),
                 some(entry.report.incomplete), name_of(measurement, entry.function)});
    }
    text += "\nFunctions (off-CPU: mean per call)\n" + table.text(2);
  }
  if (!lines.lines.empty()) {
    Table table({"line", "calls", "mean", "p99", "total", "off-CPU", "incomplete",
                 text_column("calls to")});
    for (const measure::LineRow& row : lines.lines) {
      std::string callees;
      for (const measure::LineCallee& callee : row.callees) {
        const std::string tail = tail_call_text(measurement, callee);
        callees += (callees.empty() ? "" : ", ") +
                   (tail.empty() ? name_of(measurement, callee.function) : tail);
      }
      const bool some_complete = row.latency.calls > 0;
      table.add({fmt::format("{}", row.line), count(row.latency.calls),
                 some_complete ? mean_text(row.latency) : "-",
                 some_complete ? p99_text(row.latency) : "-", total_text(row.latency),
                 off_cpu_cell(measurement, row.off_cpu.mean), some(row.incomplete), callees});
    }
    text += "\nLines with calls (off-CPU: mean per call)\n" + table.text(2);
  }
  return text + more + notes_text(measurement);
}

std::string doctor_text(const record::Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.backend == "none") {
    text = "This machine cannot measure yet.\n\n";
  } else {
    text = fmt::format("This machine measures with: {}\n\n", printable(diagnosis.backend));
  }
  for (const record::Finding& finding : diagnosis.findings) {
    const char* mark = finding.state == record::Finding::State::fine      ? "ok     "
                       : finding.state == record::Finding::State::limited ? "limited"
                                                                          : "missing";
    text += fmt::format("{}  {}: {}\n", mark, printable(finding.title), printable(finding.detail));
    if (finding.state == record::Finding::State::fine) {
      continue;
    }
    if (!finding.why.empty()) {
      text += fmt::format("         why: {}\n", printable(finding.why));
    }
    if (finding.remedy != finding.temporary && finding.remedy != finding.permanent) {
      text += fmt::format("         do:  {}\n", printable(finding.remedy));
    }
    if (!finding.temporary.empty()) {
      text += fmt::format("         now: {}\n", printable(finding.temporary));
    }
    if (!finding.permanent.empty()) {
      text += fmt::format("         permanently: {}\n", printable(finding.permanent));
    }
  }
  return text;
}

} // namespace ptlens::exporting
