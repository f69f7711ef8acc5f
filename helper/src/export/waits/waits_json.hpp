// The report on waits as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"
#include "measure/waits/wait_report.hpp"

namespace ptlens::exporting {

[[nodiscard]] Json waits_json(const measure::Measurement& measurement,
                              const measure::WaitReport& report);

[[nodiscard]] Json wait_row_json(const measure::WaitRow& row);

// Returns the fields of who ended waits, without their figures.
[[nodiscard]] Json waker_json(const measure::WakerRow& waker);

} // namespace ptlens::exporting
