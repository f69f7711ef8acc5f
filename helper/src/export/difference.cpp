// The comparison of two recordings.
#include "export/difference.hpp"

#include "export/text/latency_text.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ptlens::exporting {
namespace {

using measure::Verdict;

const char* const minus = "\u2212";

Json figures_json(const measure::Report& report) {
  return {{"calls",
           {{"complete", report.complete},
            {"incomplete", report.incomplete},
            {"unwound", report.unwound}}},
          {"latency", latency_json(report.latency)},
          {"off_cpu", off_cpu_json(report.off_cpu)}};
}

Json alone_json(const measure::Measurement& measurement,
                const std::vector<measure::Report>& reports) {
  Json list = Json::array();
  for (const measure::Report& report : reports) {
    Json entry = function_json(measurement, report.function);
    entry.update(figures_json(report));
    list.push_back(std::move(entry));
  }
  return list;
}

std::string mean_of(const measure::Report& report) {
  return report.latency.calls == 0 ? std::string() : mean_text(report.latency);
}

std::string change_cell(Verdict verdict, const std::string& change) {
  switch (verdict) {
  case Verdict::changed:
    return change;
  case Verdict::unchanged:
    return "≈";
  case Verdict::few_calls:
    return "few calls";
  case Verdict::no_timing:
    break;
  }
  return "no timing";
}

std::string alone_text(const char* title, const measure::Measurement& measurement,
                       const std::vector<measure::Report>& reports) {
  if (reports.empty()) {
    return {};
  }
  Table table({{"calls"}, {"mean"}, {"function", Table::Align::left}});
  for (const measure::Report& report : reports) {
    table.add({count(report.complete), mean_of(report),
               printable(measurement.functions[report.function].name)});
  }
  return fmt::format("\n{}\n{}", title, table.text(2));
}

} // namespace

const char* word(Verdict verdict) {
  switch (verdict) {
  case Verdict::changed:
    return "changed";
  case Verdict::unchanged:
    return "unchanged";
  case Verdict::few_calls:
    return "few_calls";
  case Verdict::no_timing:
    break;
  }
  return "no_timing";
}

std::string signed_duration(double ns) {
  return (ns < 0 ? minus : "+") + duration(std::abs(ns));
}

std::string signed_percentage(double percent) {
  return (percent < 0 ? minus : "+") + percentage(std::abs(percent));
}

Json difference_json(const measure::Measurement& base, const measure::Measurement& now,
                     const measure::RecordingDifference& difference) {
  Json functions = Json::array();
  for (const measure::FunctionDifference& pair : difference.both) {
    Json entry = function_json(now, pair.now.function);
    entry["base"] = figures_json(pair.base);
    entry["recording"] = figures_json(pair.now);
    entry["difference"] = {{"mean_ns", pair.difference.mean},
                           {"mean_percent", pair.difference.mean_percent},
                           {"mean_within_ns", pair.difference.mean_within},
                           {"mean", word(pair.difference.mean_verdict)},
                           {"p99_ns", pair.difference.p99},
                           {"p99", word(pair.difference.p99_verdict)}};
    functions.push_back(std::move(entry));
  }
  return {{"base", recording_json(base)},
          {"recording", recording_json(now)},
          {"functions", std::move(functions)},
          {"only_base", alone_json(base, difference.only_base)},
          {"only_recording", alone_json(now, difference.only_now)}};
}

std::string difference_text(const measure::Measurement& base, const measure::Measurement& now,
                            const measure::RecordingDifference& difference) {
  const auto named = [](const measure::RecordingInfo& recording) {
    const std::string probes = probes_text(recording);
    return printable(recording.path) + (probes.empty() ? "" : ", ") + probes;
  };
  std::string text =
      fmt::format("base       {}\nrecording  {}\n\n", named(base.recording), named(now.recording));
  Table table({{"calls before"},
               {"calls now"},
               {"mean before"},
               {"mean now"},
               {"mean"},
               {"p99"},
               {"function", Table::Align::left}});
  for (const measure::FunctionDifference& pair : difference.both) {
    table.add(
        {count(pair.base.complete), count(pair.now.complete), mean_of(pair.base), mean_of(pair.now),
         change_cell(pair.difference.mean_verdict, signed_percentage(pair.difference.mean_percent)),
         change_cell(pair.difference.p99_verdict, signed_duration(pair.difference.p99)),
         printable(now.functions[pair.now.function].name)});
  }
  text += difference.both.empty() ? "No function was called in both recordings.\n" : table.text(2);
  text += alone_text("Called only in the base", base, difference.only_base);
  text += alone_text("Called only in the recording", now, difference.only_now);
  return text + fmt::format("\n≈: no change beyond the uncertainty of both recordings and the "
                            "scatter of the calls.\nfew calls: fewer than {} in one recording, for "
                            "p99 fewer than {}.\n",
                            measure::fewest_for_mean, measure::fewest_for_p99);
}

} // namespace ptlens::exporting
