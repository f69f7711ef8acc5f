#include "export/timeline/timeline_json.hpp"

#include "export/call_figures.hpp"
#include "export/json/figures_json.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/waits/wait_words.hpp"
#include "export/waits/waits_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ptlens::exporting {
namespace {

using measure::AlignedCall;
using measure::Measurement;
using measure::Timeline;

// A difference of times: a waker's call can begin before the call.
std::int64_t since(std::uint64_t time, std::uint64_t origin) {
  return static_cast<std::int64_t>(time - origin);
}

Json site_json(const Measurement& measurement, stacks::SiteId site) {
  const bool known = measurement.sites.has(site);
  return {{"file", known ? measurement.sites[site].file : std::string()},
          {"line", known ? measurement.sites[site].line : 0}};
}

Json name_json(const Measurement& measurement, stacks::FunctionId function) {
  return measurement.functions.has(function) ? Json(measurement.functions[function].name)
                                             : Json(nullptr);
}

std::uint64_t latency_of(const CallFigures& figures, const stacks::CallTable& calls,
                         std::uint32_t row) {
  return figures.latency.value_or(calls.latency[row]);
}

// What a table of calls says of the same call.
Json figures_json(const Measurement& measurement, const stacks::CallTable& calls,
                  std::uint32_t row) {
  const CallFigures figures = figures_of(measurement, calls, row);
  return {{"latency", latency_of(figures, calls, row)},
          {"resolution", figures.within},
          {"wall", calls.wall(row)},
          {"off_cpu", calls.off_cpu(row)},
          {"self", figures.self.value_or(calls.self(row))},
          {"state", word(calls.state[row])}};
}

Json call_json(const Measurement& measurement, const stacks::CallTable& calls, std::uint32_t row) {
  Json json = figures_json(measurement, calls, row);
  json.update({{"tid", measurement.threads[calls.thread[row]].tid},
               {"thread", measurement.threads[calls.thread[row]].comm},
               {"start", calls.start[row]}});
  return json;
}

Json nested_json(const Measurement& measurement, const Timeline& timeline) {
  const stacks::CallTable& calls = timeline.subset.calls();
  const std::uint64_t origin = calls.start[timeline.row];
  Json list = Json::array();
  for (const measure::NestedCall& nested : timeline.tree.calls) {
    Json json = site_json(measurement, calls.site[nested.row]);
    json.update(figures_json(measurement, calls, nested.row));
    json.update({{"depth", nested.depth},
                 {"function", name_json(measurement, calls.function[nested.row])},
                 {"start", since(calls.start[nested.row], origin)},
                 {"tail_call", calls.tail_call[nested.row] != 0}});
    list.push_back(std::move(json));
  }
  return list;
}

Json wait_list_json(const Timeline& timeline, std::uint64_t origin) {
  Json list = Json::array();
  for (const measure::TimelineWait& wait : timeline.waits) {
    const measure::WaitRow& row = wait.wait;
    Json waker = row.wakers.empty() ? Json(nullptr) : waker_json(row.wakers.front());
    if (!waker.is_null()) {
      waker["text"] = waker_text(row, row.wakers.front());
    }
    list.push_back({{"start", since(wait.begin, origin)},
                    {"duration", wait.end - wait.begin},
                    {"woken", wait.woken == 0 ? Json(nullptr) : Json(since(wait.woken, origin))},
                    {"reason", waits::word(row.reason)},
                    {"likely", row.likely},
                    {"lock", waits::word(row.lock)},
                    {"function", row.place.function},
                    {"file", row.place.file},
                    {"line", row.place.line},
                    {"called", row.called},
                    {"kernel", row.kernel},
                    {"waker", std::move(waker)}});
  }
  return list;
}

Json lost_json(const Timeline& timeline, std::uint64_t origin) {
  Json list = Json::array();
  for (const auto& [begin, end] : timeline.lost) {
    list.push_back({{"start", since(begin, origin)}, {"duration", end - begin}});
  }
  return list;
}

Json meanwhile_json(const Timeline& timeline, std::uint64_t origin) {
  Json list = Json::array();
  for (const measure::MeanwhileCall& call : timeline.meanwhile) {
    list.push_back({{"tid", call.tid},
                    {"thread", call.thread},
                    {"function", call.function},
                    {"file", call.file},
                    {"line", call.line},
                    {"start", since(call.start, origin)},
                    {"wall", call.end - call.start}});
  }
  return list;
}

Json place_json(const measure::SourcePlace& place) {
  return {{"function", place.function}, {"file", place.file}, {"line", place.line}};
}

Json parting_json(const Timeline& timeline) {
  if (!timeline.parting) {
    return nullptr;
  }
  const measure::Parting& parting = *timeline.parting;
  Json json = place_json(parting.branch);
  json.update({{"binary", parting.branch.binary},
               {"address", fmt::format("{:#x}", parting.address)},
               {"call", place_json(parting.call)},
               {"twin", place_json(parting.twin)}});
  return json;
}

Json twin_json(const Measurement& measurement, const Timeline& timeline) {
  if (!timeline.twin) {
    return nullptr;
  }
  const stacks::CallTable& calls = timeline.subset.calls();
  const measure::Twin& twin = *timeline.twin;
  Json aligned = Json::array();
  for (const AlignedCall& each : twin.calls) {
    const std::uint32_t shown = each.row == AlignedCall::none ? each.twin_row : each.row;
    Json json = site_json(measurement, calls.site[shown]);
    json["function"] = name_json(measurement, calls.function[shown]);
    const auto latency_json = [&](std::uint32_t row) {
      return row == AlignedCall::none
                 ? Json(nullptr)
                 : Json(latency_of(figures_of(measurement, calls, row), calls, row));
    };
    json["latency"] = latency_json(each.row);
    json["twin_latency"] = latency_json(each.twin_row);
    aligned.push_back(std::move(json));
  }
  const auto index_json = [](const std::optional<std::size_t>& at) {
    return at ? Json(*at) : Json(nullptr);
  };
  Json json = call_json(measurement, calls, twin.row);
  json.update({{"same_caller", twin.same_caller},
               {"same_thread", twin.same_thread},
               {"calls", std::move(aligned)},
               {"first_divergence", index_json(twin.first_divergence)},
               {"largest_difference", index_json(twin.largest_difference)},
               {"parting", parting_json(timeline)}});
  return json;
}

} // namespace

Json timeline_json(const Measurement& measurement, const Timeline& timeline) {
  const stacks::CallTable& calls = timeline.subset.calls();
  const std::uint64_t origin = calls.start[timeline.row];
  Json json = call_json(measurement, calls, timeline.row);
  json.update({{"calls", nested_json(measurement, timeline)},
               {"left_out", timeline.tree.left_out},
               {"waits", wait_list_json(timeline, origin)},
               {"lost", lost_json(timeline, origin)},
               {"meanwhile", meanwhile_json(timeline, origin)},
               {"twin", twin_json(measurement, timeline)}});
  return {{"recording", recording_json(measurement)},
          {"function", function_json(measurement, calls.function[timeline.row])},
          {"timeline", std::move(json)}};
}

} // namespace ptlens::exporting
