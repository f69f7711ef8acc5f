// The report on waits for the terminal.
#pragma once

#include "measure/measurement.hpp"
#include "measure/waits/wait_report.hpp"

#include <string>

namespace ptlens::exporting {

[[nodiscard]] std::string waits_text(const measure::Measurement& measurement,
                                     const measure::WaitReport& report);

} // namespace ptlens::exporting
