// Commands that answer from a recording: functions, report, calls, flame, explain, waits,
// timeline, lines.
#include "cli/commands.hpp"
#include "cli/progress_line.hpp"
#include "engine/cache/cache_status.hpp"
#include "engine/engine.hpp"
#include "engine/inlined/inlined_report.hpp"
#include "engine/waits/recorded_waits.hpp"
#include "export/calls.hpp"
#include "export/explain/explain_json.hpp"
#include "export/explain/explain_text.hpp"
#include "export/folded.hpp"
#include "export/json/calls_json.hpp"
#include "export/json/flame_json.hpp"
#include "export/json/functions_json.hpp"
#include "export/json/lines_json.hpp"
#include "export/json/report_json.hpp"
#include "export/line_times.hpp"
#include "export/text/text.hpp"
#include "export/timeline/timeline_json.hpp"
#include "export/timeline/timeline_text.hpp"
#include "export/waits/waits_json.hpp"
#include "export/waits/waits_text.hpp"
#include "measure/explain/explain.hpp"
#include "measure/explain/wait_causes.hpp"
#include "measure/flame/flame.hpp"
#include "measure/lines/lines.hpp"
#include "measure/names/find_function.hpp"
#include "measure/names/names.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/call_stream.hpp"
#include "measure/selection/selection.hpp"
#include "measure/selection/selection_text.hpp"
#include "measure/timeline/timeline.hpp"
#include "measure/waits/report_waits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ptlens::cli {
namespace {

using Measured = std::shared_ptr<const measure::Measurement>;

Result<engine::Opened> open_with_inlined(const QueryOptions& query) {
  ProgressLine line;
  engine::OpenOptions options = open_options(query.source);
  options.watch = {.selector = measure::parse_selector(query.function),
                   .binary = query.binary,
                   .listener = line.partial_listener()};
  return engine::open_with_inlined(query.source.recording, options, options.watch.selector.name,
                                   query.binary, line.progress());
}

Result<engine::Opened> open_calls_only(const QueryOptions& query) {
  auto measurement =
      engine::open(query.source.recording, open_options(query.source), ProgressLine().progress());
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  return engine::Opened{.measurement = std::move(*measurement), .inlined = nullptr};
}

Result<Measured> open(const RecordingOptions& options) {
  return engine::open(options.recording, open_options(options), ProgressLine().progress());
}

// Returns whether the cache turned out to be damaged. Then it is removed, and `again` has the
// options for a second attempt.
bool was_damaged(const measure::Measurement& measurement, RecordingOptions& again) {
  if (again.cache_removed || measurement.cache == nullptr || !measurement.cache->damaged()) {
    return false;
  }
  again.cache_removed = true;
  const auto removed = engine::remove_caches(again.recording);
  again.no_cache = !removed || removed->empty(); // it could not be removed
  return true;
}

Result<measure::Selection> select(const measure::Measurement& measurement,
                                  const measure::SelectionText& options) {
  auto selection = measure::parse_selection(options);
  if (selection) {
    if (auto checked = measure::check_selection(measurement, *selection); !checked) {
      return std::unexpected(checked.error());
    }
  }
  return selection;
}

Result<std::vector<stacks::FunctionId>> find(const measure::Measurement& measurement,
                                             const QueryOptions& options) {
  if (options.all) {
    return measure::find_functions(measurement, options.function, options.binary);
  }
  const auto one = measure::find_function(measurement, options.function, options.binary);
  if (!one) {
    return std::unexpected(one.error());
  }
  return std::vector{*one};
}

struct Query {
  Measured measurement;
  std::vector<stacks::FunctionId> functions; // empty: all
  measure::Selection selection;
};

Result<Query> prepare(const QueryOptions& options) {
  auto measurement = open(options.source);
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  Query query{*measurement, {}, {}};
  if (!options.function.empty()) {
    auto functions = find(**measurement, options);
    if (!functions) {
      return std::unexpected(functions.error());
    }
    query.functions = std::move(*functions);
  }
  auto selection = select(**measurement, options.selection);
  if (!selection) {
    return std::unexpected(selection.error());
  }
  query.selection = std::move(*selection);
  return query;
}

// A report as JSON or as text.
using Answer = std::variant<exporting::Json, std::string>;

Answer answer_of(const measure::Measurement& measurement, const measure::Report& report,
                 const std::optional<measure::LatencyStats>& raw,
                 const std::optional<measure::InlinedPart>& inlined, bool not_called,
                 const QueryOptions& options) {
  if (options.source.json) {
    auto json = exporting::report_json(measurement, report, raw);
    if (not_called) {
      json["not_called"] = true;
    }
    if (inlined) {
      exporting::add_inlined(json, measurement, *inlined);
    }
    return json;
  }
  const std::string not_called_text =
      not_called ? exporting::not_called_text(measurement, report) : std::string();
  return not_called_text + exporting::report_text(measurement, report,
                                                  inlined.value_or(measure::InlinedPart{}),
                                                  options.raw ? raw : std::nullopt);
}

} // namespace

engine::OpenOptions open_options(const RecordingOptions& options) {
  engine::OpenOptions open{.symfs = options.symfs};
  open.kallsyms = options.kallsyms;
  open.kcore = options.kcore;
  open.source_map = options.source_map;
  open.workers = options.workers;
  open.segment_bytes = options.segment_bytes;
  open.memory_bytes = options.memory_bytes;
  if (options.decoder == "libipt") {
    open.decoder = flow::Decoder::libipt;
  }
  if (options.pid > 0) {
    open.pid = options.pid;
  }
  open.use_cache = !options.no_cache;
  return open;
}

Result<void> functions(const RecordingOptions& options) {
  auto measurement = open(options);
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  const auto rows = measure::functions(**measurement); // reads no calls
  if (options.json) {
    std::cout << exporting::dump(exporting::functions_json(**measurement, rows)) << '\n';
  } else {
    std::cout << exporting::functions_text(**measurement, rows);
  }
  return {};
}

// Returns the report on all functions of a name, or nothing where the name means one or none.
Result<std::optional<Answer>> report_all(const QueryOptions& options) {
  const auto query = prepare(options);
  if (!query && query.error().kind != Error::Kind::not_found) {
    return std::unexpected(query.error());
  }
  if (!query || query->functions.size() == 1) {
    return std::nullopt;
  }
  const measure::Report report =
      measure::report(*query->measurement, query->functions, query->selection);
  if (QueryOptions again = options; was_damaged(*query->measurement, again.source)) {
    return report_all(again);
  }
  return answer_of(*query->measurement, report,
                   measure::raw_latency(*query->measurement, query->functions, query->selection),
                   {}, false, options);
}

Result<Answer> report_one(const QueryOptions& options) {
  if (options.all) {
    auto all = report_all(options);
    if (!all) {
      return std::unexpected(all.error());
    }
    if (*all) {
      return std::move(**all);
    }
  }
  auto source = open_with_inlined(options);
  if (!source) {
    return std::unexpected(source.error());
  }
  const measure::Measurement& measurement = *source->measurement;
  auto selection = select(measurement, options.selection);
  if (!selection) {
    return std::unexpected(selection.error());
  }
  const auto report =
      engine::report(measurement, options.function, options.binary, *selection,
                     [&](const std::string&, const std::string&) -> Result<engine::SharedInlined> {
                       return source->inlined;
                     });
  if (!report) {
    return std::unexpected(report.error());
  }
  if (QueryOptions again = options; was_damaged(measurement, again.source)) {
    return report_one(again);
  }
  const measure::Measurement& shown = report->source(measurement);
  const auto raw =
      report->inlined
          ? std::nullopt
          : measure::raw_latency(measurement, {&report->report.function, 1}, *selection);
  return answer_of(shown, report->report, raw, report->inlined, report->not_called, options);
}

Result<void> report(const QueryOptions& options) {
  std::vector<Answer> answers;
  for (const std::string& function : options.functions) {
    QueryOptions one = options;
    one.function = function;
    auto answer = report_one(one);
    if (!answer) {
      return std::unexpected(answer.error());
    }
    answers.push_back(std::move(*answer));
  }
  const bool is_list = options.source.json && answers.size() > 1;
  std::cout << (is_list ? "[" : "");
  std::string_view before;
  for (const Answer& answer : answers) {
    std::cout << std::exchange(before, is_list ? ",\n" : "\n");
    if (const auto* const json = std::get_if<exporting::Json>(&answer)) {
      exporting::print(*json, std::cout);
    } else {
      std::cout << std::get<std::string>(answer);
    }
  }
  std::cout << (is_list ? "]" : "") << (options.source.json ? "\n" : "");
  return {};
}

// Returns the functions that the options name; of a function that was inlined and never called,
// its inlined executions, which are in another measurement.
Result<std::vector<stacks::FunctionId>> find_called_or_inlined(const engine::Opened& source,
                                                               const QueryOptions& query,
                                                               const measure::Measurement*& in) {
  in = source.measurement.get();
  if (query.function.empty()) {
    const auto all = in->functions.ids();
    return std::vector<stacks::FunctionId>(all.begin(), all.end());
  }
  auto functions = find(*in, query);
  if (!functions && functions.error().kind == Error::Kind::not_found && source.inlined) {
    if (const auto inlined = measure::choose_inlined(*source.inlined, query.function)) {
      in = &source.inlined->measurement;
      return std::vector{*inlined};
    }
  }
  return functions;
}

Result<void> calls(const CallsOptions& options) {
  const QueryOptions& query = options.query;
  auto source = query.function.empty() ? open_calls_only(query) : open_with_inlined(query);
  if (!source) {
    return std::unexpected(source.error());
  }
  auto selection = select(*source->measurement, query.selection);
  if (!selection) {
    return std::unexpected(selection.error());
  }
  const measure::Measurement* measurement = nullptr;
  const auto functions = find_called_or_inlined(*source, query, measurement);
  if (!functions) {
    return std::unexpected(functions.error());
  }
  measure::CallStream stream(*measurement, *functions, *selection);
  if (CallsOptions again = options; was_damaged(*measurement, again.query.source)) {
    return calls(again);
  }
  const bool with_function = query.function.empty() || query.all;
  if (options.csv) {
    exporting::write_calls_csv_header(std::cout, *measurement, with_function);
  }
  while (const auto some = stream.next()) {
    if (options.csv) {
      exporting::write_calls_csv(std::cout, *measurement, *some, with_function);
    } else {
      exporting::write_calls_json_lines(std::cout, *measurement, *some, with_function);
    }
    if (!std::cout) {
      break;
    }
  }
  return {};
}

Result<void> flame(const FlameOptions& options) {
  auto query = prepare(options.query);
  if (!query) {
    return std::unexpected(query.error());
  }
  measure::FlameTime time = measure::FlameTime::wall;
  if (options.on) {
    time = measure::FlameTime::on_cpu;
  } else if (options.off) {
    time = measure::FlameTime::off_cpu;
  }
  std::shared_ptr<const waits::Waits> waits;
  if (options.waits) {
    const RecordingOptions& source = options.query.source;
    auto recorded =
        engine::recorded_waits(source.recording, open_options(source), ProgressLine().progress());
    if (!recorded) {
      return std::unexpected(recorded.error());
    }
    waits = std::move(*recorded);
  }
  const auto tree =
      measure::flame(*query->measurement, query->functions, query->selection, time, 0, waits.get());
  if (FlameOptions again = options; was_damaged(*query->measurement, again.query.source)) {
    return flame(again);
  }
  if (options.format == "json") {
    std::cout << exporting::dump(exporting::flame_json(*query->measurement, tree, time)) << '\n';
  } else {
    exporting::write_folded(std::cout, *query->measurement, tree);
  }
  return {};
}

Result<void> explain(const ExplainOptions& options) {
  const auto sets = measure::parse_sets(options.slow, options.typical);
  if (!sets) {
    return std::unexpected(sets.error());
  }
  const auto query = prepare(options.query);
  if (!query) {
    return std::unexpected(query.error());
  }
  auto explanation =
      measure::explain(*query->measurement, query->functions.front(), query->selection, *sets);
  if (ExplainOptions again = options; was_damaged(*query->measurement, again.query.source)) {
    return explain(again);
  }
  if (!explanation) {
    return std::unexpected(explanation.error());
  }
  if (measure::ends_in_wait(*explanation)) {
    const auto waits =
        engine::recorded_waits(options.query.source.recording, open_options(options.query.source),
                               ProgressLine().progress());
    if (!waits) {
      return std::unexpected(waits.error());
    }
    measure::name_waits(*query->measurement, **waits, query->selection, *explanation);
  }
  if (options.query.source.json) {
    std::cout << exporting::dump(exporting::explain_json(*query->measurement, *explanation))
              << '\n';
  } else {
    std::cout << exporting::explain_text(*query->measurement, *explanation);
  }
  return {};
}

Result<void> waits(const QueryOptions& options) {
  const auto query = prepare(options);
  if (!query) {
    return std::unexpected(query.error());
  }
  if (query->functions.empty() && query->selection.is_of_calls()) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = "the selection is of calls, but no function is named",
              .remedy = "give --function F, or select by --time and --tid only"});
  }
  const auto recorded = engine::recorded_waits(
      options.source.recording, open_options(options.source), ProgressLine().progress());
  if (!recorded) {
    return std::unexpected(recorded.error());
  }
  const auto function =
      query->functions.empty() ? std::nullopt : std::optional(query->functions.front());
  const auto report =
      measure::report_waits(*query->measurement, **recorded, function, query->selection);
  if (QueryOptions again = options; was_damaged(*query->measurement, again.source)) {
    return waits(again);
  }
  if (options.source.json) {
    std::cout << exporting::dump(exporting::waits_json(*query->measurement, report)) << '\n';
  } else {
    std::cout << exporting::waits_text(*query->measurement, report);
  }
  return {};
}

Result<void> timeline(const TimelineOptions& options) {
  const auto name = measure::parse_call_name(options.call);
  if (!name) {
    return std::unexpected(name.error());
  }
  const auto query = prepare(options.query);
  if (!query) {
    return std::unexpected(query.error());
  }
  const RecordingOptions& source = options.query.source;
  const auto recorded =
      engine::recorded_waits(source.recording, open_options(source), ProgressLine().progress());
  if (!recorded) {
    return std::unexpected(recorded.error());
  }
  auto shown = measure::timeline(*query->measurement, **recorded, query->functions.front(), *name);
  if (TimelineOptions again = options; was_damaged(*query->measurement, again.query.source)) {
    return timeline(again);
  }
  if (!shown) {
    return std::unexpected(shown.error());
  }
  auto parting = engine::parting(source.recording, open_options(source), *query->measurement,
                                 *shown, ProgressLine().progress());
  if (!parting) {
    return std::unexpected(parting.error());
  }
  shown->parting = std::move(*parting);
  if (source.json) {
    std::cout << exporting::dump(exporting::timeline_json(*query->measurement, *shown)) << '\n';
  } else {
    std::cout << exporting::timeline_text(*query->measurement, *shown);
  }
  return {};
}

namespace {

using SharedLineTimes = std::shared_ptr<const line_time::LineTimes>;

// Returns the functions of the file whose lines will be timed.
Result<std::vector<stacks::FunctionInfo>> timed_functions(const measure::Measurement& measurement,
                                                          const measure::FileLines& lines,
                                                          const LinesOptions& options) {
  std::vector<stacks::FunctionInfo> functions;
  if (options.function.empty()) {
    for (const measure::FileFunction& entry : lines.functions) {
      functions.push_back(measurement.functions[entry.function]);
    }
    return functions;
  }
  const auto named = measure::find_functions(measurement, options.function, options.binary);
  if (!named) {
    return std::unexpected(named.error());
  }
  for (const stacks::FunctionId function : *named) {
    if (measurement.functions[function].file == lines.file) {
      functions.push_back(measurement.functions[function]);
    }
  }
  if (functions.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::not_found,
              .message = fmt::format("\"{}\" is in another source file",
                                     measurement.functions[named->front()].name),
              .file = measurement.recording.path,
              .remedy = fmt::format("give --file {}", measurement.functions[named->front()].file)});
  }
  return functions;
}

Result<SharedLineTimes> line_times(const measure::Measurement& measurement,
                                   const measure::FileLines& lines, const LinesOptions& options) {
  const auto functions = timed_functions(measurement, lines, options);
  if (!functions) {
    return std::unexpected(functions.error());
  }
  return engine::line_times(options.source.recording, open_options(options.source), *functions,
                            ProgressLine().progress());
}

} // namespace

Result<void> lines(const LinesOptions& options) {
  auto measurement = open(options.source);
  if (!measurement) {
    return std::unexpected(measurement.error());
  }
  const auto found = measure::lines(**measurement, options.file);
  if (!found) {
    return std::unexpected(found.error());
  }
  if (LinesOptions again = options; was_damaged(**measurement, again.source)) {
    return lines(again);
  }
  SharedLineTimes times;
  if (options.time) {
    auto measured = line_times(**measurement, *found, options);
    if (!measured) {
      return std::unexpected(measured.error());
    }
    times = std::move(*measured);
  }
  if (options.source.json) {
    auto json = exporting::lines_json(**measurement, *found);
    if (options.time) {
      json["line_time"] = exporting::line_times_json(times.get());
    }
    std::cout << exporting::dump(json) << '\n';
  } else {
    const std::string text = options.time ? exporting::line_times_text(times.get()) : "";
    std::cout << exporting::lines_text(**measurement, *found, text);
  }
  return {};
}

} // namespace ptlens::cli
