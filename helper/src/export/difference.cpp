// The comparison of recordings.
#include "export/difference.hpp"

#include "base/note.hpp"
#include "base/words.hpp"
#include "export/json/figures_json.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/text/latency_text.hpp"
#include "export/text/table.hpp"
#include "export/text/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ptlens::exporting {
namespace {

using measure::Change;
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

// Returns what `of` returns for the only one, or {runs: [...]}.
template <class Range, class Of>
Json each_run(bool several, const Range& runs, const Of& of) {
  if (!several) {
    return of(runs[0]);
  }
  Json list = Json::array();
  for (const auto& run : runs) {
    list.push_back(of(run));
  }
  return {{"runs", std::move(list)}};
}

constexpr Word<measure::Reason> reason_cells[] = {{measure::Reason::few_calls, "too few calls"},
                                                  {measure::Reason::no_timing, "no timing"}};
constexpr Word<measure::Reason> reason_words[] = {{measure::Reason::few_calls, "few_calls"},
                                                  {measure::Reason::no_timing, "no_timing"}};

struct VerdictWords {
  Verdict verdict;
  const char* word;  // of JSON
  const char* words; // of a sentence
  const char* sign;
};
constexpr VerdictWords verdict_words[] = {
    {Verdict::faster, "faster", "faster", "↓"},
    {Verdict::slower, "slower", "slower", "↑"},
    {Verdict::no_change, "no_change", "no change", "="},
    {Verdict::cannot_tell, "cannot_tell", "cannot tell", "?"}};

const VerdictWords& words_of(Verdict verdict) {
  return *std::ranges::find(verdict_words, verdict, &VerdictWords::verdict);
}

Json change_json(const Change& change) {
  return {{"base_ns", change.base},
          {"recording_ns", change.now},
          {"difference_ns", change.difference()},
          {"low_ns", change.ns.low},
          {"high_ns", change.ns.high},
          {"percent", change.percent()},
          {"low_percent", change.low_percent()},
          {"high_percent", change.high_percent()},
          {"verdict", exporting::word(change.verdict)},
          {"reason", change.reason == measure::Reason::none
                         ? Json()
                         : Json(word_of(reason_words, change.reason))}};
}

std::vector<Note> notes_of(const measure::RecordingDifference& difference) {
  for (const measure::FunctionChange& change : difference.both) {
    if (change.difference.one_run) {
      return {make_note("one_run", "{}", one_run_sentence())};
    }
  }
  return {};
}

Json alone_json(bool several, const std::vector<measure::FunctionChange>& changes) {
  Json list = Json::array();
  for (const measure::FunctionChange& change : changes) {
    const auto& reports = change.base.empty() ? change.now : change.base;
    Json entry = function_json(*change.measurement, change.function);
    entry.update(each_run(several, reports, figures_json));
    list.push_back(std::move(entry));
  }
  return list;
}

std::uint64_t calls_of(const std::vector<measure::Report>& reports) {
  std::uint64_t calls = 0;
  for (const measure::Report& report : reports) {
    calls += report.complete;
  }
  return calls;
}

// Returns the mean of one run with its uncertainty, and of several their mean.
std::string mean_cell(const std::vector<measure::Report>& reports, double mean) {
  if (calls_of(reports) == 0) {
    return {};
  }
  return reports.size() == 1 ? mean_text(reports.front().latency) : duration(mean);
}

std::string change_cell(const Change& change) {
  if (change.reason != measure::Reason::none) {
    return fmt::format("? {}", word_of(reason_cells, change.reason));
  }
  return fmt::format("{} {} [{}] {}", sign(change.verdict), signed_percentage(change.percent()),
                     interval_text(change), words(change.verdict));
}

std::string alone_text(const char* title, const std::vector<measure::FunctionChange>& changes) {
  if (changes.empty()) {
    return {};
  }
  Table table({"calls", "mean", text_column("function")});
  for (const measure::FunctionChange& change : changes) {
    const auto& reports = change.base.empty() ? change.now : change.base;
    double mean = 0;
    for (const measure::Report& report : reports) {
      mean += report.latency.mean / static_cast<double>(reports.size());
    }
    table.add({count(calls_of(reports)), mean_cell(reports, mean),
               printable(change.measurement->functions[change.function].name)});
  }
  return fmt::format("\n{}\n{}", title, table.text(2));
}

std::string named(const char* side, measure::Recordings recordings) {
  std::string text;
  for (const measure::Measurement* each : recordings) {
    const std::string probes = probes_text(each->recording);
    text += fmt::format("{:<11}{}{}{}\n", text.empty() ? side : "", printable(each->recording.path),
                        probes.empty() ? "" : ", ", probes);
  }
  return text;
}

} // namespace

const char* word(Verdict verdict) {
  return words_of(verdict).word;
}

const char* words(Verdict verdict) {
  return words_of(verdict).words;
}

const char* sign(Verdict verdict) {
  return words_of(verdict).sign;
}

std::string signed_duration(double ns) {
  return (ns < 0 ? minus : "+") + duration(std::abs(ns));
}

std::string signed_percentage(double percent) {
  return (percent < 0 ? minus : "+") + percentage(std::abs(percent));
}

std::string interval_text(const Change& change) {
  if (change.base == 0) {
    return signed_duration(change.ns.low) + " to " + signed_duration(change.ns.high);
  }
  return signed_percentage(change.low_percent()) + " to " +
         signed_percentage(change.high_percent());
}

std::string one_run_sentence() {
  return "One run a side: drift between runs cannot be ruled out.";
}

Json difference_json(measure::Recordings base, measure::Recordings now,
                     const measure::RecordingDifference& difference) {
  const bool several = base.size() > 1 || now.size() > 1;
  Json functions = Json::array();
  for (const measure::FunctionChange& change : difference.both) {
    Json entry = function_json(*change.measurement, change.function);
    entry["base"] = each_run(several, change.base, figures_json);
    entry["recording"] = each_run(several, change.now, figures_json);
    entry["difference"] = {{"mean", change_json(change.difference.mean)},
                           {"p50", change_json(change.difference.p50)},
                           {"p99", change_json(change.difference.p99)}};
    functions.push_back(std::move(entry));
  }
  const auto recording = [](const measure::Measurement* each) { return recording_json(*each); };
  Json notes = Json::array();
  for (const Note& note : notes_of(difference)) {
    notes.push_back(note_json(note));
  }
  return {{"base", each_run(several, base, recording)},
          {"recording", each_run(several, now, recording)},
          {"functions", std::move(functions)},
          {"only_base", alone_json(several, difference.only_base)},
          {"only_recording", alone_json(several, difference.only_now)},
          {"notes", std::move(notes)}};
}

std::string difference_text(measure::Recordings base, measure::Recordings now,
                            const measure::RecordingDifference& difference) {
  std::string text = named("base", base) + named("recording", now) + '\n';
  Table table({"calls before", "calls now", "mean before", "mean now", text_column("mean"),
               text_column("p99"), text_column("function")});
  for (const measure::FunctionChange& change : difference.both) {
    const auto& [mean, p50, p99, one_run] = change.difference;
    table.add({count(calls_of(change.base)), count(calls_of(change.now)),
               mean_cell(change.base, mean.base), mean_cell(change.now, mean.now),
               change_cell(mean), change_cell(p99),
               printable(change.measurement->functions[change.function].name)});
  }
  text += difference.both.empty() ? "No function was called in both recordings.\n" : table.text(2);
  text += alone_text("Called only in the base", difference.only_base);
  text += alone_text("Called only in the recording", difference.only_now);
  text += fmt::format("\nIn brackets: 95 % confidence. No change: it is within ± {} %. Too few "
                      "calls: fewer than {} in a run, for p99 fewer than {}.\n",
                      measure::practical_percent, measure::fewest_for_mean,
                      count(measure::fewest_for_p99));
  for (const Note& note : notes_of(difference)) {
    text += note.text + '\n';
  }
  return text;
}

} // namespace ptlens::exporting
