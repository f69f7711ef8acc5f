// The waits of a recording, read once and kept beside the call cache.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/open_options.hpp"
#include "measure/measurement.hpp"
#include "waits/waits.hpp"

#include <memory>
#include <string>

namespace ptlens::engine {

// Returns the waits. A recording without the scheduler's tracepoints has waits without reasons, and
// one without switch records has none. Errors: those of load(), cancelled.
[[nodiscard]] Result<std::shared_ptr<const waits::Waits>>
recorded_waits(const std::string& recording, const OpenOptions& options, const Progress& progress);

// Returns the waits of an opened recording, to be read on first use.
[[nodiscard]] std::shared_ptr<measure::LazyWaits> waits_on_use(const std::string& recording,
                                                               const OpenOptions& options);

} // namespace ptlens::engine
