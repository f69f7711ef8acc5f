// The figures of the lines of a file as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/lines/lines.hpp"
#include "measure/measurement.hpp"

namespace ptlens::exporting {

[[nodiscard]] Json lines_json(const measure::Measurement& measurement,
                              const measure::FileLines& lines);

} // namespace ptlens::exporting
