#include "export/json/distribution_json.hpp"

#include "export/call_figures.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

namespace ptlens::exporting {

namespace {

Json sums_json(const measure::CallSums& sums) {
  return {{"calls", sums.calls},
          {"time", sums.time},
          {"on_cpu", sums.on_cpu()},
          {"blocked", sums.blocked},
          {"preempted", sums.preempted}};
}

Json total_json(const std::vector<measure::CallSums>& bins) {
  measure::CallSums total;
  for (const measure::CallSums& bin : bins) {
    total.add(bin);
  }
  return sums_json(total);
}

Json bins_json(const measure::Distribution& distribution) {
  Json bins = Json::array();
  for (std::size_t bin = 0; bin < distribution.bins(); ++bin) {
    Json json = {{"low", distribution.bounds[bin]}, {"high", distribution.bounds[bin + 1]}};
    json.update(sums_json(distribution.all[bin]));
    json["selected"] = sums_json(distribution.selected[bin]);
    bins.push_back(std::move(json));
  }
  return bins;
}

Json points_json(const measure::Measurement& measurement,
                 const measure::Distribution& distribution) {
  Json points;
  for (const char* const name :
       {"tid", "start", "latency", "off_cpu", "blocked", "preempted", "state", "selected"}) {
    points[name] = Json::array();
  }
  const stacks::CallTable& calls = distribution.slowest.calls();
  for (std::size_t call = 0; call < calls.size(); ++call) {
    points["tid"].push_back(measurement.threads[calls.thread[call]].tid);
    points["start"].push_back(calls.start[call]);
    points["latency"].push_back(calls.latency[call]);
    points["off_cpu"].push_back(calls.off_cpu(call));
    points["blocked"].push_back(calls.blocked[call]);
    points["preempted"].push_back(calls.preempted[call]);
    points["state"].push_back(exporting::word(calls.state[call]));
    points["selected"].push_back(static_cast<bool>(distribution.slowest_selected[call]));
  }
  return points;
}

} // namespace

Json distribution_json(const measure::Measurement& measurement, stacks::FunctionId function,
                       const measure::Distribution& distribution) {
  const std::uint64_t start = measure::trace_start(measurement);
  const auto since_start = [start](std::uint64_t time) { return time > start ? time - start : 0; };
  Json lost = Json::array();
  for (const auto& [begin, end, lost_ns] : measurement.recording.lost) {
    lost.push_back(
        {{"start", since_start(begin)}, {"duration", end - begin}, {"lost_ns", lost_ns}});
  }
  return {{"recording", recording_json(measurement)},
          {"function", function_json(measurement, function)},
          {"trace_start", start},
          {"total", total_json(distribution.all)},
          {"selected", total_json(distribution.selected)},
          {"time", {since_start(distribution.first), since_start(distribution.last)}},
          {"lost", std::move(lost)},
          {"bins", bins_json(distribution)},
          {"grid",
           {{"columns", distribution.columns},
            {"calls", distribution.grid},
            {"selected", distribution.selected_grid}}},
          {"slowest", points_json(measurement, distribution)}};
}

} // namespace ptlens::exporting
