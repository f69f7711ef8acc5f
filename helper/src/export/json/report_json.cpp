#include "export/json/report_json.hpp"

#include "export/json/figures_json.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/text/units.hpp"

#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace ptlens::exporting {

namespace {

// {complete, incomplete, unwound}
template <class Counted>
Json counts_of(const Counted& calls) {
  return {
      {"complete", calls.complete}, {"incomplete", calls.incomplete}, {"unwound", calls.unwound}};
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

Json related_json(const measure::Measurement& measurement,
                  const std::vector<measure::RelatedRow>& related) {
  JsonRows rows = JsonRows::list(related.size());
  for (const measure::RelatedRow& row : related) {
    rows.begin();
    add_identity(rows, measurement, row.function);
    add_site(rows, measurement, row.site);
    rows.field("calls", row.latency.calls);
    add_figures(rows, "latency", row.latency);
    add_figures(rows, "off_cpu", row.off_cpu);
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
    entry["calls"] = counts_of(row);
    entry["latency"] = latency_json(row.latency);
    list.push_back(std::move(entry));
  }
  function["name"] = measure::common_name(measurement, report);
  function["address"] = nullptr;
  json["instances"] = std::move(list);
}

} // namespace

Json call_counts_json(const measure::Report& report) {
  return counts_of(report);
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

Json partial_report_json(const measure::PartialReport& report) {
  return {
      {"function", function_json(report.function)},
      {"calls", counts_of(report)},
      {"latency",
       {{"mean", report.mean}, {"min", report.min}, {"max", report.max}, {"total", report.total}}},
      {"off_cpu", {{"total", report.off_cpu}}},
      {"histogram", histogram_json(report.histogram)},
      {"done", report.done_bytes},
      {"total", report.total_bytes}};
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
      entry["calls"] = counts_of(row);
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

} // namespace ptlens::exporting
