// The waits of a recording, read once and kept beside the call cache.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/open_options.hpp"
#include "waits/waits.hpp"

#include <memory>
#include <string>

namespace ptlens::engine {

// Returns the waits. A recording without the scheduler's tracepoints has waits without reasons, and
// one without switch records has none. Errors: those of load(), cancelled.
[[nodiscard]] Result<std::shared_ptr<const waits::Waits>>
recorded_waits(const std::string& recording, const OpenOptions& options, const Progress& progress);

} // namespace ptlens::engine
