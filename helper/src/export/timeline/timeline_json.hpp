// A time line as JSON. Times of calls and waits are relative to the start of the call.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"
#include "measure/timeline/timeline.hpp"

namespace ptlens::exporting {

[[nodiscard]] Json timeline_json(const measure::Measurement& measurement,
                                 const measure::Timeline& timeline);

} // namespace ptlens::exporting
