#include "export/json/calls_json.hpp"

#include "export/call_figures.hpp"
#include "export/json/function_json.hpp"
#include "measure/selection/caller.hpp"
#include "waits/reason.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace ptlens::exporting {

namespace {

// Null for no figure.
Json json_of(std::optional<std::uint64_t> figure) {
  return figure ? Json(*figure) : Json();
}

// [least, most], or null for no bounds.
Json bounds_json(const CallFigures& figures) {
  return figures.bounds ? Json::array({figures.bounds->first, json_of(figures.bounds->second)})
                        : Json();
}

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
