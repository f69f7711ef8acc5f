// One line per call.
#include "export/calls.hpp"

#include "export/json/json.hpp"
#include "export/text/units.hpp"
#include "measure/selection/caller.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace ptlens::exporting {

namespace {

// What a line says of a call beside its columns.
struct CallFacts {
  const stacks::FunctionInfo* caller = nullptr; // null: not known
  const stacks::CallSite* site = nullptr;       // the same
  CallFigures figures;
};

// Calls `write` with the row and the facts of each call.
template <class Write>
void each_call(const measure::Measurement& measurement, const measure::CallSubset& calls,
               const Write& write) {
  const stacks::CallTable& table = calls.calls();
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    const stacks::FunctionId caller = measure::caller_of(measurement, calls, call);
    const stacks::SiteId site = table.site[call];
    write(call,
          CallFacts{.caller = measurement.functions.has(caller) ? &measurement.functions[caller]
                                                                : nullptr,
                    .site = measurement.sites.has(site) ? &measurement.sites[site] : nullptr,
                    .figures = figures_of(measurement, table, call)});
  }
}

std::string csv_field(std::optional<std::uint64_t> figure) {
  return figure ? std::to_string(*figure) : "";
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

void write_calls_json_lines(std::ostream& out, const measure::Measurement& measurement,
                            const measure::CallSubset& calls, bool with_function) {
  const stacks::CallTable& table = calls.calls();
  each_call(measurement, calls, [&](std::uint32_t call, const CallFacts& facts) {
    const auto& [caller, site, figures] = facts;
    Json line = {{"tid", measurement.threads[table.thread[call]].tid},
                 {"start", table.start[call]},
                 {"latency", json_of(figures.latency)},
                 {"resolution", figures.within},
                 {"off_cpu", table.off_cpu(call)},
                 {"self", json_of(figures.self)},
                 {"caller", caller != nullptr ? Json(caller->name) : Json(nullptr)},
                 {"call_site", site != nullptr ? Json(hexadecimal(site->address)) : Json(nullptr)},
                 {"state", word(table.state[call])},
                 {"tail_call", table.tail_call[call] != 0},
                 {"blocked", table.blocked[call]},
                 {"preempted", table.preempted[call]}};
    if (measurement.is_corrected()) {
      line["raw_latency"] = json_of(figures.raw_latency);
      line["bounds"] = bounds_json(figures);
    }
    if (with_function) {
      const stacks::FunctionInfo& function = measurement.functions[table.function[call]];
      line["function"] = function.name;
      line["binary"] = function.binary;
      line["address"] = hexadecimal(function.address);
    }
    out << dump(line) << '\n';
  });
}

void write_calls_csv_header(std::ostream& out, const measure::Measurement& measurement,
                            bool with_function) {
  out << "tid,start,latency,off_cpu,self,caller,call_site,state,tail_call,resolution"
      << (measurement.is_corrected() ? ",raw_latency,at_least,at_most" : "") << ",blocked,preempted"
      << (with_function ? ",function,binary,address\r\n" : "\r\n");
}

void write_calls_csv(std::ostream& out, const measure::Measurement& measurement,
                     const measure::CallSubset& calls, bool with_function) {
  const stacks::CallTable& table = calls.calls();
  each_call(measurement, calls, [&](std::uint32_t call, const CallFacts& facts) {
    const auto& [caller, site, figures] = facts;
    out << fmt::format("{},{},{},{},{},{},{},{},{},{}", measurement.threads[table.thread[call]].tid,
                       table.start[call], csv_field(figures.latency), table.off_cpu(call),
                       csv_field(figures.self), caller != nullptr ? csv_field(caller->name) : "",
                       site != nullptr ? hexadecimal(site->address) : "", word(table.state[call]),
                       table.tail_call[call] != 0, figures.within);
    if (measurement.is_corrected()) {
      const auto at_least = figures.bounds ? std::optional(figures.bounds->first) : std::nullopt;
      const auto at_most = figures.bounds ? figures.bounds->second : std::nullopt;
      out << fmt::format(",{},{},{}", csv_field(figures.raw_latency), csv_field(at_least),
                         csv_field(at_most));
    }
    out << fmt::format(",{},{}", table.blocked[call], table.preempted[call]);
    if (with_function) {
      const stacks::FunctionInfo& function = measurement.functions[table.function[call]];
      out << fmt::format(",{},{},{}", csv_field(function.name), csv_field(function.binary),
                         hexadecimal(function.address));
    }
    out << "\r\n";
  });
}

} // namespace ptlens::exporting
