// A code lens above each function with figures.
#pragma once

#include "server/annotations/annotated_file.hpp"

#include <string>

namespace ptlens::server {

// Returns "mean 1.23 µs · p50 1.20 µs · p99 4.50 µs · max 9.10 µs · 10,000 calls · on-CPU 88 %,
// off-CPU 12 % · cpu 34 % · 3 incomplete · 1.20 ms of trace lost".
[[nodiscard]] std::string lens_title(const measure::RecordingInfo& recording,
                                     const measure::Report& report);

// Returns an LSP CodeLens[].
[[nodiscard]] Json code_lenses(const AnnotatedFile& file);

} // namespace ptlens::server
