// The losses and notes of a recording, for the terminal: losses at the top of a page, notes at its
// end.
#pragma once

#include "measure/measurement.hpp"

#include <string>

namespace ptlens::exporting {

// Returns lines that begin with "! " about gaps, dropped records, missing binaries and missing
// timing, and an empty line; nothing when nothing was lost.
[[nodiscard]] std::string loss_text(const measure::Measurement& measurement);

// Returns an empty line, "Notes" and the notes of the recording; nothing without notes.
[[nodiscard]] std::string notes_text(const measure::Measurement& measurement);

} // namespace ptlens::exporting
