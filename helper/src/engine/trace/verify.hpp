// Our decoder against libipt's instruction decoder, branch by branch, on every piece of trace of a
// recording. The reference gives up at code that is missing and begins again at a PSB; what ours
// tells in between has no judge, and is counted.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/engine.hpp"
#include "engine/trace/branch_comparison.hpp"

#include <string>

namespace ptlens::engine {

// Stops at the first difference. Errors: those of open().
[[nodiscard]] Result<Verdict> verify(const std::string& recording, const OpenOptions& options,
                                     const Progress& progress);

} // namespace ptlens::engine
