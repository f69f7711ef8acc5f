#include "export/json/functions_json.hpp"

#include "export/json/function_json.hpp"
#include "export/json/recording_json.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace ptlens::exporting {

Json functions_json(const measure::Measurement& measurement,
                    std::span<const measure::FunctionRow> functions) {
  JsonRows rows = JsonRows::list(functions.size());
  for (const measure::FunctionRow& row : functions) {
    rows.begin();
    add_identity(rows, measurement, row.function);
    add_place(rows, measurement, row.function);
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

} // namespace ptlens::exporting
