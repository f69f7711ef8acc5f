// One line per call.
#include "export/calls.hpp"

#include "export/json/json.hpp"
#include "export/text/units.hpp"
#include "measure/selection/caller.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ptlens::exporting {

namespace {

const stacks::FunctionInfo* caller_info(const measure::Measurement& measurement,
                                        const measure::CallSubset& part, std::uint32_t call) {
  const stacks::FunctionId function = measure::caller_of(measurement, part, call);
  return measurement.functions.has(function) ? &measurement.functions[function] : nullptr;
}

const stacks::CallSite* site_of(const measure::Measurement& measurement,
                                const measure::CallSubset& part, std::uint32_t call) {
  const stacks::SiteId site = part.calls().site[call];
  return measurement.sites.has(site) ? &measurement.sites[site] : nullptr;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char character : text) {
    quoted += character;
    if (character == '"') {
      quoted += '"';
    }
  }
  return quoted + '"';
}

} // namespace

std::vector<std::uint32_t> by_start(const measure::CallSubset& part,
                                    std::vector<std::uint32_t> calls) {
  const std::vector<std::uint64_t>& start = part.calls().start;
  std::ranges::sort(calls, [&start](std::uint32_t one, std::uint32_t other) {
    return start[one] != start[other] ? start[one] < start[other] : one < other;
  });
  return calls;
}

void write_calls_json_lines(std::ostream& out, const measure::Measurement& measurement,
                            const measure::CallSubset& part, std::span<const std::uint32_t> calls) {
  const stacks::CallTable& table = part.calls();
  for (const std::uint32_t call : calls) {
    const stacks::FunctionInfo* caller = caller_info(measurement, part, call);
    const stacks::CallSite* site = site_of(measurement, part, call);
    const Json line = {
        {"tid", measurement.threads[table.thread[call]].tid},
        {"start", table.start[call]},
        {"latency", table.latency[call]},
        {"resolution", table.uncertainty[call]},
        {"off_cpu", table.off_cpu(call)},
        {"self", table.self(call)},
        {"caller", caller != nullptr ? Json(caller->name) : Json(nullptr)},
        {"call_site", site != nullptr ? Json(hexadecimal(site->address)) : Json(nullptr)},
        {"state", word(table.state[call])},
        {"tail_call", table.tail_call[call] != 0}};
    out << dump(line) << '\n';
  }
}

void write_calls_csv(std::ostream& out, const measure::Measurement& measurement,
                     const measure::CallSubset& part, std::span<const std::uint32_t> calls) {
  const stacks::CallTable& table = part.calls();
  out << "tid,start,latency,off_cpu,self,caller,call_site,state,tail_call,resolution\r\n";
  for (const std::uint32_t call : calls) {
    const stacks::FunctionInfo* caller = caller_info(measurement, part, call);
    const stacks::CallSite* site = site_of(measurement, part, call);
    out << fmt::format("{},{},{},{},{},{},{},{},{},{}\r\n",
                       measurement.threads[table.thread[call]].tid, table.start[call],
                       table.latency[call], table.off_cpu(call), table.self(call),
                       caller != nullptr ? csv_field(caller->name) : "",
                       site != nullptr ? hexadecimal(site->address) : "", word(table.state[call]),
                       table.tail_call[call] != 0, table.uncertainty[call]);
  }
}

} // namespace ptlens::exporting
