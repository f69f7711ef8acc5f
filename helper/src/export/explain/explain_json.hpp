// An explanation as JSON.
#pragma once

#include "export/json/json_text.hpp"
#include "measure/explain/explanation.hpp"

namespace ptlens::exporting {

// Returns {recording, function, explain}.
[[nodiscard]] Json explain_json(const measure::Measurement& measurement,
                                const measure::Explanation& explanation);

} // namespace ptlens::exporting
