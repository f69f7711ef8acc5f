#include "export/json/lines_json.hpp"

#include "export/json/figures_json.hpp"
#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/json/report_json.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ptlens::exporting {

Json lines_json(const measure::Measurement& measurement, const measure::FileLines& lines) {
  Json functions = Json::array();
  for (const measure::FileFunction& entry : lines.functions) {
    Json json = function_json(measurement, entry.function);
    json["end_line"] = measurement.functions.has(entry.function)
                           ? measurement.functions[entry.function].end_line
                           : 0;
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
      Json entry = identity_json(measurement, callee.function);
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
          entry["tail_callees"].push_back(identity_json(measurement, called));
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
    add_uncertainty(line, row.latency, {"mean", "p99", "total"});
  }
  return {{"recording", recording_json(measurement)},
          {"file", lines.file},
          {"functions", std::move(functions)},
          {"lines", std::move(rows)}};
}

} // namespace ptlens::exporting
