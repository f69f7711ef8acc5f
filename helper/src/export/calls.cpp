// One line per call.
#include "export/calls.hpp"

#include "export/call_figures.hpp"
#include "export/json/json_text.hpp"
#include "export/text/units.hpp"
#include "measure/selection/caller.hpp"

#include <fmt/format.h>

#include <optional>

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

struct CallLine {
  std::int32_t tid = -1;
  const stacks::FunctionInfo* caller = nullptr;
  const stacks::CallSite* site = nullptr;
  CallFigures figures;
};

// Gives every call and what both formats say of it to `write`.
template <class Write>
void each_line(const measure::Measurement& measurement, const measure::CallSubset& calls,
               const Write& write) {
  const stacks::CallTable& table = calls.calls();
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    write(call, CallLine{.tid = measurement.threads[table.thread[call]].tid,
                         .caller = caller_info(measurement, calls, call),
                         .site = site_of(measurement, calls, call),
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

// Returns "AT_LEAST,AT_MOST", each empty where it is not known.
std::string csv_bounds(const CallFigures& figures) {
  return figures.bounds
             ? fmt::format("{},{}", figures.bounds->first, csv_field(figures.bounds->second))
             : ",";
}

} // namespace

void write_calls_json_lines(std::ostream& out, const measure::Measurement& measurement,
                            const measure::CallSubset& calls, bool with_function) {
  const stacks::CallTable& table = calls.calls();
  constexpr std::size_t enough = 1U << 16U; // bytes
  JsonRows lines(JsonRows::Between::lines);
  each_line(measurement, calls, [&](std::uint32_t call, const CallLine& found) {
    const auto& [tid, caller, site, figures] = found;
    lines.begin();
    lines.field("tid", tid);
    lines.field("start", table.start[call]);
    lines.field("latency", figures.latency);
    lines.field("resolution", figures.within);
    lines.field("off_cpu", table.off_cpu(call));
    lines.field("self", figures.self);
    if (caller != nullptr) {
      lines.field("caller", caller->name);
    } else {
      lines.field("caller", nullptr);
    }
    if (site != nullptr) {
      lines.field("call_site", hexadecimal(site->address));
    } else {
      lines.field("call_site", nullptr);
    }
    lines.field("state", word(table.state[call]));
    lines.field("tail_call", table.tail_call[call] != 0);
    lines.field("blocked", table.blocked[call]);
    lines.field("preempted", table.preempted[call]);
    if (measurement.is_corrected()) {
      lines.field("raw_latency", figures.raw_latency);
      if (figures.bounds) {
        lines.field("bounds", figures.bounds->first, figures.bounds->second);
      } else {
        lines.field("bounds", nullptr);
      }
    }
    if (with_function) {
      const stacks::FunctionInfo& function = measurement.functions[table.function[call]];
      lines.field("function", function.name);
      lines.field("binary", function.binary);
      lines.field("address", hexadecimal(function.address));
    }
    lines.end();
    if (lines.size() >= enough) {
      out << lines.take_lines();
    }
  });
  out << lines.take_lines();
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
  each_line(measurement, calls, [&](std::uint32_t call, const CallLine& found) {
    const auto& [tid, caller, site, figures] = found;
    out << fmt::format("{},{},{},{},{},{},{},{},{},{}", tid, table.start[call],
                       csv_field(figures.latency), table.off_cpu(call), csv_field(figures.self),
                       caller != nullptr ? csv_field(caller->name) : "",
                       site != nullptr ? hexadecimal(site->address) : "", word(table.state[call]),
                       table.tail_call[call] != 0, figures.within);
    if (measurement.is_corrected()) {
      out << ',' << csv_field(figures.raw_latency) << ',' << csv_bounds(figures);
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
