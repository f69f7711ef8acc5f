// What is known of a recording as a whole, as JSON.
#pragma once

#include "base/note.hpp"
#include "export/json/json_text.hpp"
#include "measure/measurement.hpp"

namespace ptlens::exporting {

// {"code", "arguments", "text"}
[[nodiscard]] Json note_json(const Note& note);

[[nodiscard]] Json recording_json(const measure::Measurement& measurement);

} // namespace ptlens::exporting
