// Opens a recording whose trace is to be decoded.
#pragma once

#include "base/error.hpp"
#include "engine/recording/loaded_recording.hpp"

#include <string>

namespace ptlens::engine {

// Opens a recording or a bundle. Errors: those of unpacked() and load(); bad_input where the
// recording contains no trace.
[[nodiscard]] Result<LoadedRecording> load_trace(const std::string& named,
                                                 const OpenOptions& options);

} // namespace ptlens::engine
