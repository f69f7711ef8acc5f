// What any LSP editor shows of the active recording: a code lens above each function with figures,
// and a hover on functions and call-site lines.
#pragma once

#include "server/session.hpp"

#include <string>

namespace ptlens::server {

// "mean 1.23 µs · p50 1.20 µs · p99 4.50 µs · 10,000 calls · off-CPU 12 %".
[[nodiscard]] std::string lens_title(const measure::RecordingInfo& recording,
                                     const measure::Report& report);

// LSP CodeLens[]: empty where the recording (or nullptr) has nothing of the file.
[[nodiscard]] Json code_lenses(OpenRecording* recording, const std::string& file);

// LSP Hover, or null where there is nothing to say.
[[nodiscard]] Json hover(OpenRecording* recording, const Place& place);

} // namespace ptlens::server
