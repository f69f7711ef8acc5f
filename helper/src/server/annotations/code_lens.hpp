// A code lens above each function with figures.
#pragma once

#include "server/annotations/annotated_file.hpp"

#include <string>

namespace ptlens::server {

// Returns "31.5 µs typical · p99 3.50 ms · 1,614 calls · 54 % off-CPU". With fewer than 100 calls
// it has the maximum in place of p99; with more than a hundredth of the trace lost, "⚠ 12 % lost".
[[nodiscard]] std::string lens_title(const measure::RecordingInfo& recording,
                                     const measure::Report& report);

// Returns an LSP CodeLens[]. `links`: with a lens "Why slow?", a command of the PT Lens extension,
// beside that of each function that has slow calls.
[[nodiscard]] Json code_lenses(const AnnotatedFile& file, bool links);

} // namespace ptlens::server
