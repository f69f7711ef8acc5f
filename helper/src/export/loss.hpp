// What a page says about the recording itself: what was lost, first; the backend's notes, last.
#pragma once

#include "measure/measurement.hpp"

#include <string>

namespace ptlens::exporting {

// Lines beginning with "! " about gaps, dropped records, missing binaries and missing timing; empty
// when nothing was lost. Followed by an empty line.
[[nodiscard]] std::string loss_text(const measure::Measurement& measurement);

// "Notes" and one line each; empty without notes. Preceded by an empty line.
[[nodiscard]] std::string notes_text(const measure::Measurement& measurement);

} // namespace ptlens::exporting
