// The JSON of measurements.
#include "export/json/json.hpp"

#include "base/words.hpp"
#include "export/text/units.hpp"
#include "measure/names/names.hpp"
#include "measure/selection/caller.hpp"
#include "measure/thread_rows.hpp"

#include <nlohmann/json.hpp>

#include <unordered_map>
#include <utility>

namespace ptlens::exporting {

namespace {

constexpr Word<measure::FlameTime> time_words[] = {{measure::FlameTime::wall, "wall"},
                                                   {measure::FlameTime::on_cpu, "on"},
                                                   {measure::FlameTime::off_cpu, "off"}};
constexpr Word<stacks::CallState> state_words[] = {{stacks::CallState::complete, "complete"},
                                                   {stacks::CallState::incomplete, "incomplete"},
                                                   {stacks::CallState::unwound, "unwound"}};

bool known(const measure::Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function);
}

// Calls `use` with the name and the value of each field.
template <class Use>
void each_field(const measure::LatencyStats& stats, const Use& use) {
  use("mean", stats.mean);
  use("stddev", stats.stddev);
  use("min", stats.min);
  use("max", stats.max);
  use("p50", stats.p50);
  use("p90", stats.p90);
  use("p99", stats.p99);
  use("p999", stats.p999);
  use("total", stats.total);
  use("resolution", stats.uncertainty);
}

template <class Use>
void each_field(const measure::OffCpuStats& stats, const Use& use) {
  use("mean", stats.mean);
  use("total", stats.total);
  use("calls", stats.calls);
  use("switches", stats.switches);
  use("blocked", stats.blocked);
  use("preempted", stats.preempted);
}

// Calls `use` with the name, the value and the uncertainty of each figure.
template <class Use>
void each_error(const measure::LatencyStats& stats, const Use& use) {
  use("mean", stats.mean, stats.within.mean);
  use("min", as_double(stats.min), as_double(stats.within.min));
  use("max", as_double(stats.max), as_double(stats.within.max));
  use("p50", as_double(stats.p50), as_double(stats.within.p50));
  use("p90", as_double(stats.p90), as_double(stats.within.p90));
  use("p99", as_double(stats.p99), as_double(stats.within.p99));
  use("p999", as_double(stats.p999), as_double(stats.within.p999));
  use("total", as_double(stats.total), stats.within.total);
}

template <class Use>
void each_error(const measure::OffCpuStats& /*stats*/, const Use& /*use*/) {}

// Adds `uncertainty`, and `below_resolution` where there are such figures, of those that `wanted`
// accepts. `Object` has begin(name), field(name, number) and end().
template <class Object, class Stats, class Wanted>
void add_errors(Object& object, const Stats& stats, const Wanted& wanted) {
  bool any = false;
  bool any_below = false;
  each_error(stats, [&](const char* name, double figure, double within) {
    any = any || (wanted(name) && within > 0);
    any_below = any_below || (wanted(name) && measure::is_below_resolution(figure, within));
  });
  if (!any) {
    return;
  }
  object.begin("uncertainty");
  each_error(stats, [&](const char* name, double /*figure*/, double within) {
    if (wanted(name)) {
      object.field(name, within);
    }
  });
  object.end();
  if (any_below) {
    object.begin("below_resolution");
    each_error(stats, [&](const char* name, double figure, double within) {
      if (wanted(name) && measure::is_below_resolution(figure, within)) {
        object.field(name, figure + within);
      }
    });
    object.end();
  }
}

// Fills an object with objects, one level deep.
class ObjectWriter {
public:
  explicit ObjectWriter(Json& json) : json_(json) {}
  void begin(const char* name) { part_ = &(json_[name] = Json::object()); }
  void field(const char* name, double value) { (*part_)[name] = value; }
  void end() { part_ = nullptr; }

private:
  Json& json_;
  Json* part_ = nullptr;
};

bool has_errors(const measure::LatencyStats& stats) {
  return stats.corrected;
}
bool has_errors(const measure::OffCpuStats& /*stats*/) {
  return false;
}

constexpr auto all_figures = [](std::string_view) { return true; };

template <class Stats>
Json object_of(const Stats& stats) {
  Json json = Json::object();
  each_field(stats, [&](const char* name, auto value) { json[name] = value; });
  if (has_errors(stats)) {
    ObjectWriter writer(json);
    add_errors(writer, stats, all_figures);
  }
  return json;
}

template <class Stats>
void add(JsonRows& rows, const char* name, const Stats& stats) {
  rows.begin(name);
  each_field(stats, [&](const char* field, auto value) { rows.field(field, value); });
  if (has_errors(stats)) {
    add_errors(rows, stats, all_figures);
  }
  rows.end();
}

// {mean, total}; `within` is 0 where no time of probes was removed.
Json mean_and_total(double mean, std::uint64_t total, double mean_within, double total_within) {
  Json json = {{"mean", mean}, {"total", total}};
  if (mean_within > 0) {
    json["uncertainty"] = {{"mean", mean_within}, {"total", total_within}};
  }
  return json;
}

Json self_json(const measure::Report& report) {
  if (!report.self_known) {
    return {{"mean", nullptr}, {"total", nullptr}, {"unknown", "some callees were not measured"}};
  }
  return mean_and_total(report.self_mean, report.self_total, report.self_within,
                        report.self_total_within);
}

} // namespace

Json latency_json(const measure::LatencyStats& stats) {
  return object_of(stats);
}

namespace {

Json histogram_json(const std::vector<measure::Bucket>& histogram) {
  Json list = Json::array();
  for (const measure::Bucket& bucket : histogram) {
    list.push_back({{"low", bucket.low},
                    {"high", bucket.high},
                    {"calls", bucket.calls},
                    {"off_cpu_calls", bucket.off_cpu_calls}});
  }
  return list;
}

} // namespace

Json off_cpu_json(const measure::OffCpuStats& stats) {
  return object_of(stats);
}

namespace {

Json call_counts_json(const measure::Report& report) {
  return {{"complete", report.complete},
          {"incomplete", report.incomplete},
          {"unwound", report.unwound}};
}

Json site_address_json(const measure::Measurement& measurement, stacks::SiteId site) {
  if (!measurement.sites.has(site)) {
    return nullptr;
  }
  return hexadecimal(measurement.sites[site].address);
}

// The fields that identify a function.
template <class Use>
void each_field(const stacks::FunctionInfo& info, const Use& use) {
  use("name", std::string_view(info.name));
  use("binary", std::string_view(info.binary));
  use("address", hexadecimal(info.address));
}

template <class Use>
void each_field(const measure::Measurement& measurement, stacks::FunctionId function,
                const Use& use) {
  if (known(measurement, function)) {
    each_field(measurement.functions[function], use);
    return;
  }
  use("name", std::string_view("[unknown]"));
  use("binary", std::string_view());
  use("address", nullptr);
}

// {name, binary, address}
template <class... Function>
Json identified(const Function&... function) {
  Json json = Json::object();
  each_field(function..., [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

void add_identity(JsonRows& rows, const measure::Measurement& measurement,
                  stacks::FunctionId function) {
  each_field(measurement, function,
             [&](const char* name, const auto& value) { rows.field(name, value); });
}

template <Id I, class Place> // with file and line
void add_place(JsonRows& rows, const IdVector<I, Place>& places, I id) {
  const bool has = places.has(id);
  rows.field("file", has ? std::string_view(places[id].file) : std::string_view());
  rows.field("line", std::uint64_t{has ? places[id].line : 0});
}

} // namespace

void add_site(JsonRows& rows, const measure::Measurement& measurement, stacks::SiteId site) {
  if (measurement.sites.has(site)) {
    rows.field("call_site", hexadecimal(measurement.sites[site].address));
  } else {
    rows.field("call_site", nullptr);
  }
  add_place(rows, measurement.sites, site);
}

namespace {

Json related_json(const measure::Measurement& measurement,
                  const std::vector<measure::RelatedRow>& related) {
  JsonRows rows = JsonRows::list(related.size());
  for (const measure::RelatedRow& row : related) {
    rows.begin();
    add_identity(rows, measurement, row.function);
    add_site(rows, measurement, row.site);
    rows.field("calls", row.latency.calls);
    add(rows, "latency", row.latency);
    add(rows, "off_cpu", row.off_cpu);
    rows.field("cpu_percent", row.cpu_percent);
    rows.end();
  }
  return rows.take();
}

Json threads_json(const measure::Measurement& measurement,
                  const std::vector<measure::ThreadRow>& rows) {
  Json list = Json::array();
  for (const measure::ThreadRow& row : rows) {
    const stacks::ThreadInfo& thread = measurement.threads[row.thread];
    list.push_back({{"tid", thread.tid},
                    {"comm", thread.comm},
                    {"calls", row.latency.calls},
                    {"incomplete", row.incomplete},
                    {"unwound", row.unwound},
                    {"lost_ns", thread.lost_ns},
                    {"gaps", thread.gaps},
                    {"latency", latency_json(row.latency)},
                    {"off_cpu", off_cpu_json(row.off_cpu)}});
  }
  return list;
}

// Returns what represents time outside user code or a wait as a function, which is in no table and
// has no address.
Json unnamed_frame_json(const measure::Measurement& measurement, stacks::FunctionId function) {
  const auto info = measure::frame_function(measurement, function);
  Json json = {{"name", info.name},
               {"binary", info.binary},
               {"address", nullptr},
               {"file", ""},
               {"line", 0}};
  if (const auto cause = measure::waits_for(function)) {
    json["waits_for"] = waits::word(cause->reason);
    if (cause->likely) {
      json["likely"] = true;
    }
  }
  return json;
}

// Numbers the functions of a list in the order of their first use, and describes each once.
class FunctionTable {
public:
  explicit FunctionTable(const measure::Measurement& measurement) : measurement_(measurement) {}

  // -1 for none; measure::outside_user_code and the reasons of waits are some.
  std::int64_t index(stacks::FunctionId function) {
    const bool outside =
        function == measure::outside_user_code || measure::waits_for(function).has_value();
    if (!outside && !known(measurement_, function)) {
      return -1;
    }
    const auto [at, added] =
        numbers_.try_emplace(function, static_cast<std::int64_t>(numbers_.size()));
    if (added) {
      Json entry = outside ? unnamed_frame_json(measurement_, function)
                           : function_json(measurement_, function);
      if (!measurement_.self_known(function, true)) {
        entry["self_unknown"] = true;
      }
      list_.push_back(std::move(entry));
    }
    return at->second;
  }

  Json take() { return std::move(list_); }

private:
  const measure::Measurement& measurement_;
  std::unordered_map<stacks::FunctionId, std::int64_t> numbers_;
  Json list_ = Json::array();
};

} // namespace

const char* word(measure::FlameTime time) {
  return word_of(time_words, time);
}

const char* word(stacks::CallState state) {
  return word_of(state_words, state);
}

Json note_json(const Note& note) {
  return {{"code", note.code}, {"arguments", note.arguments}, {"text", note.text}};
}

Json recording_json(const measure::Measurement& measurement) {
  const measure::RecordingInfo& info = measurement.recording;
  Json missing = Json::array();
  for (const measure::MissingCode& code : info.missing) {
    missing.push_back({{"path", code.path}, {"build_id", code.build_id}, {"reason", code.reason}});
  }
  Json threads = Json::array();
  const std::vector<std::uint32_t> first = measure::first_rows(measurement.threads);
  for (std::uint32_t row = 0; row < first.size(); ++row) {
    if (first[row] != row) {
      continue;
    }
    const stacks::ThreadInfo& thread = measurement.threads[row];
    const std::uint64_t traced =
        thread.last_ns > thread.first_ns ? thread.last_ns - thread.first_ns : 0;
    threads.push_back({{"pid", thread.pid},
                       {"tid", thread.tid},
                       {"comm", thread.comm},
                       {"instructions", thread.instructions},
                       {"trace_ns", traced},
                       {"lost_ns", thread.lost_ns},
                       {"gaps", thread.gaps}});
  }
  Json json = {{"path", info.path},
               {"backend", info.backend},
               {"trace_ns", info.trace_ns},
               {"lost_ns", info.lost_ns},
               {"gaps", info.gaps},
               {"decode_errors", info.decode_errors},
               {"trace_bytes", info.trace_bytes},
               {"threads", threads.size()}};
  json["resolution_ns"] = info.uncertainty_ns ? Json(*info.uncertainty_ns) : Json(nullptr);
  json["lost_records"] = info.lost_records;
  json["slowdown"] = info.slowdown;
  if (measure::is_estimate(info)) {
    json["estimate"] = {{"bursts", info.bursts},
                        {"measured_ns", info.trace_ns - info.lost_ns},
                        {"factor", measure::estimate_factor(info)}};
  }
  json["off_cpu_known"] = info.off_cpu_known;
  json["notes"] = Json::array();
  for (const Note& note : info.notes) {
    json["notes"].push_back(note_json(note));
  }
  json["missing"] = std::move(missing);
  json["thread_list"] = std::move(threads);
  return json;
}

Json function_json(const measure::Measurement& measurement, stacks::FunctionId function) {
  Json json = identified(measurement, function);
  const bool is_known = known(measurement, function);
  json["file"] = is_known ? measurement.functions[function].file : "";
  json["line"] = is_known ? measurement.functions[function].line : 0;
  return json;
}

Json partial_report_json(const measure::PartialReport& report) {
  Json function = identified(report.function);
  function["file"] = report.function.file;
  function["line"] = report.function.line;
  return {
      {"function", std::move(function)},
      {"calls",
       {{"complete", report.complete},
        {"incomplete", report.incomplete},
        {"unwound", report.unwound}}},
      {"latency",
       {{"mean", report.mean}, {"min", report.min}, {"max", report.max}, {"total", report.total}}},
      {"off_cpu", {{"total", report.off_cpu}}},
      {"histogram", histogram_json(report.histogram)},
      {"done", report.done_bytes},
      {"total", report.total_bytes}};
}

// Several functions as one: their common name, and the rest where it is common too.
void add_instances(Json& json, const measure::Measurement& measurement,
                   const measure::Report& report) {
  Json list = Json::array();
  Json& function = json["function"];
  for (const measure::InstanceRow& row : report.instances) {
    Json entry = function_json(measurement, row.function);
    for (const char* field : {"binary", "file", "line"}) {
      if (entry[field] != function[field]) {
        function[field] = std::string_view(field) == "line" ? Json(0) : Json("");
      }
    }
    entry["calls"] = {
        {"complete", row.complete}, {"incomplete", row.incomplete}, {"unwound", row.unwound}};
    entry["latency"] = latency_json(row.latency);
    list.push_back(std::move(entry));
  }
  function["name"] = measure::common_name(measurement, report);
  function["address"] = nullptr;
  json["instances"] = std::move(list);
}

Json report_json(const measure::Measurement& measurement, const measure::Report& report,
                 const std::optional<measure::LatencyStats>& raw) {
  Json json = {
      {"recording", recording_json(measurement)},
      {"function", function_json(measurement, report.function)},
      {"calls", call_counts_json(report)},
      {"latency", latency_json(report.latency)},
      {"on_cpu", mean_and_total(report.on_cpu_mean, report.on_cpu_total, report.on_cpu_within,
                                report.on_cpu_total_within)},
      {"off_cpu", off_cpu_json(report.off_cpu)},
      {"outside_user_code", {{"mean", report.outside_mean}, {"total", report.outside_total}}},
      {"self", self_json(report)},
      {"cpu_percent", report.cpu_percent},
      {"histogram", histogram_json(report.histogram)},
      {"callers", related_json(measurement, report.callers)},
      {"children", related_json(measurement, report.children)},
      {"threads", threads_json(measurement, report.threads)}};
  if (!report.instances.empty()) {
    add_instances(json, measurement, report);
  }
  if (raw) {
    json["raw"] = {{"latency", latency_json(*raw)}};
  }
  return json;
}

void add_inlined(Json& report, const measure::Measurement& measurement,
                 const measure::InlinedPart& inlined) {
  Json list = Json::array();
  for (const measure::InlinedRow& row : inlined.rows) {
    Json entry = {{"function", row.holder.name},
                  {"binary", row.holder.binary},
                  {"address", hexadecimal(row.site.address)},
                  {"file", row.site.file},
                  {"line", row.site.line},
                  {"calls", nullptr},
                  {"latency", nullptr}};
    if (row.countable) {
      entry["calls"] = {
          {"complete", row.complete}, {"incomplete", row.incomplete}, {"unwound", row.unwound}};
      entry["latency"] = latency_json(row.latency);
    }
    list.push_back(std::move(entry));
  }
  report["called"] = inlined.called;
  report["inlined"] = std::move(list);
  for (const Note& note : measure::inlined_notes(inlined, measurement.recording)) {
    report["recording"]["notes"].push_back(note_json(note));
  }
}

Json functions_json(const measure::Measurement& measurement,
                    std::span<const measure::FunctionRow> functions) {
  JsonRows rows;
  for (const measure::FunctionRow& row : functions) {
    rows.begin();
    add_identity(rows, measurement, row.function);
    add_place(rows, measurement.functions, row.function);
    rows.field("complete", row.complete);
    rows.field("incomplete", row.incomplete);
    rows.field("unwound", row.unwound);
    rows.field("mean", row.mean);
    rows.field("inclusive", row.inclusive);
    rows.field("self", row.self_known ? std::optional(row.self) : std::nullopt);
    if (row.self_known && row.self_at_most) {
      rows.field("self_at_most", true);
    }
    rows.field("off_cpu", row.off_cpu);
    if (row.mean_within > 0) {
      rows.begin("uncertainty");
      rows.field("mean", row.mean_within);
      rows.field("inclusive", row.inclusive_within);
      rows.field("self", row.self_within);
      rows.end();
    }
    rows.end();
  }
  return {{"recording", recording_json(measurement)}, {"functions", rows.take()}};
}

Json lines_json(const measure::Measurement& measurement, const measure::FileLines& lines) {
  Json functions = Json::array();
  for (const measure::FileFunction& entry : lines.functions) {
    Json json = function_json(measurement, entry.function);
    json["end_line"] =
        known(measurement, entry.function) ? measurement.functions[entry.function].end_line : 0;
    json["calls"] = call_counts_json(entry.report);
    json["latency"] = latency_json(entry.report.latency);
    json["off_cpu"] = off_cpu_json(entry.report.off_cpu);
    json["cpu_percent"] = entry.report.cpu_percent;
    functions.push_back(std::move(json));
  }
  Json rows = Json::array();
  for (const measure::LineRow& row : lines.lines) {
    Json callees = Json::array();
    for (const measure::LineCallee& callee : row.callees) {
      Json entry = identified(measurement, callee.function);
      entry["calls"] = callee.calls;
      entry["mean"] = callee.mean;
      if (callee.within > 0) {
        entry["uncertainty"] = callee.within;
      }
      if (callee.tail_call) {
        entry["tail_call"] = true;
      }
      if (!callee.tail_callees.empty()) {
        entry["tail_callees"] = Json::array();
        for (const stacks::FunctionId called : callee.tail_callees) {
          entry["tail_callees"].push_back(identified(measurement, called));
        }
      }
      callees.push_back(std::move(entry));
    }
    Json& line = rows.emplace_back(Json{{"line", row.line},
                                        {"calls", row.latency.calls},
                                        {"mean", row.latency.mean},
                                        {"p99", row.latency.p99},
                                        {"total", row.latency.total},
                                        {"incomplete", row.incomplete},
                                        {"unwound", row.unwound},
                                        {"off_cpu", off_cpu_json(row.off_cpu)},
                                        {"callees", std::move(callees)}});
    ObjectWriter writer(line);
    add_errors(writer, row.latency, [](std::string_view name) {
      return name == "mean" || name == "p99" || name == "total";
    });
  }
  return {{"recording", recording_json(measurement)},
          {"file", lines.file},
          {"functions", std::move(functions)},
          {"lines", std::move(rows)}};
}

Json flame_json(const measure::Measurement& measurement, const measure::FlameTree& tree,
                measure::FlameTime time) {
  FunctionTable table(measurement);
  Json parent = Json::array();
  Json function = Json::array();
  for (std::size_t node = 0; node < tree.size(); ++node) {
    parent.push_back(node == 0 ? -1 : static_cast<std::int64_t>(tree.parent[node]));
    function.push_back(table.index(tree.function[node]));
  }
  Json nodes = {{"parent", std::move(parent)},
                {"function", std::move(function)},
                {"inclusive", tree.inclusive},
                {"self", tree.self},
                {"calls", tree.calls}};
  if (measurement.is_corrected()) {
    nodes["uncertainty"] = tree.uncertainty;
  }
  if (std::ranges::any_of(tree.merged, [](std::uint64_t time) { return time > 0; })) {
    Json count = Json::array();
    for (const std::uint32_t merged : tree.merged_nodes) {
      count.push_back(
          merged == measure::FlameTree::not_counted ? -1 : static_cast<std::int64_t>(merged));
    }
    nodes["smaller"] = tree.merged;
    nodes["smaller_nodes"] = std::move(count);
  }
  return {{"recording", recording_json(measurement)},
          {"time", word(time)},
          {"functions", table.take()},
          {"nodes", std::move(nodes)}};
}

Json json_of(std::optional<std::uint64_t> figure) {
  return figure ? Json(*figure) : Json();
}

Json bounds_json(const CallFigures& figures) {
  return figures.bounds ? Json::array({figures.bounds->first, json_of(figures.bounds->second)})
                        : Json();
}

namespace {

Json parts_json(const std::vector<measure::CallPart>& parts, FunctionTable& functions) {
  Json list = Json::array();
  for (const measure::CallPart& part : parts) {
    Json json = {{"kind", measure::word(part.kind)},
                 {"function", functions.index(part.function)},
                 {"calls", part.calls},
                 {"time", part.time},
                 {"off_cpu", part.off_cpu}};
    if (part.cause) {
      json["reason"] = waits::word(part.cause->reason);
      json["likely"] = part.cause->likely;
    }
    list.push_back(std::move(json));
  }
  return list;
}

} // namespace

Json calls_json(const measure::Measurement& measurement, const measure::CallPage& page,
                std::uint64_t offset, bool with_function, const CallDetails* details) {
  const stacks::CallTable& table = page.calls.calls();
  FunctionTable functions(measurement);
  Json columns = {
      {"tid", Json::array()},        {"start", Json::array()},     {"latency", Json::array()},
      {"resolution", Json::array()}, {"off_cpu", Json::array()},   {"self", Json::array()},
      {"caller", Json::array()},     {"call_site", Json::array()}, {"state", Json::array()},
      {"tail_call", Json::array()},  {"blocked", Json::array()},   {"preempted", Json::array()}};
  if (measurement.is_corrected()) {
    columns["raw_latency"] = Json::array();
    columns["bounds"] = Json::array();
  }
  if (with_function) {
    columns["function"] = Json::array();
  }
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    const stacks::FunctionId caller = measure::caller_of(measurement, page.calls, call);
    const CallFigures figures = figures_of(measurement, table, call);
    columns["tid"].push_back(measurement.threads[table.thread[call]].tid);
    columns["start"].push_back(table.start[call]);
    columns["latency"].push_back(json_of(figures.latency));
    columns["resolution"].push_back(figures.within);
    columns["off_cpu"].push_back(table.off_cpu(call));
    columns["self"].push_back(json_of(figures.self));
    columns["caller"].push_back(caller == stacks::FunctionId::none ? -1 : functions.index(caller));
    columns["call_site"].push_back(site_address_json(measurement, table.site[call]));
    columns["state"].push_back(word(table.state[call]));
    columns["tail_call"].push_back(table.tail_call[call] != 0);
    columns["blocked"].push_back(table.blocked[call]);
    columns["preempted"].push_back(table.preempted[call]);
    if (measurement.is_corrected()) {
      columns["raw_latency"].push_back(json_of(figures.raw_latency));
      columns["bounds"].push_back(bounds_json(figures));
    }
    if (with_function) {
      columns["function"].push_back(functions.index(table.function[call]));
    }
  }
  if (details != nullptr) {
    columns["number"] = details->numbers;
    columns["parts"] = Json::array();
    for (const std::vector<measure::CallPart>& parts : details->parts) {
      columns["parts"].push_back(parts_json(parts, functions));
    }
  }
  return {{"total", page.total},
          {"offset", offset},
          {"functions", functions.take()},
          {"columns", std::move(columns)}};
}

} // namespace ptlens::exporting
