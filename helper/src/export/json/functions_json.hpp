// The table of all functions as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report.hpp"

#include <span>

namespace ptlens::exporting {

[[nodiscard]] Json functions_json(const measure::Measurement& measurement,
                                  std::span<const measure::FunctionRow> rows);

} // namespace ptlens::exporting
