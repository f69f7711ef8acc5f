// Decodes the trace once more, and compares the branches that two calls took.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "measure/timeline/timeline.hpp"

#include <optional>
#include <span>

namespace ptlens::engine {

// Compares each pair of calls by the branches of their own code, and returns where the first pair
// that took different ones parts; nothing where every pair took the same, or the trace has gaps
// there. `functions`: whose calls they are, one for each pair. Errors: cancelled.
[[nodiscard]] Result<std::optional<measure::Parting>>
find_parting(const LoadedRecording& loaded, std::span<const measure::TracedPair> pairs,
             std::span<const stacks::FunctionInfo> functions, const Progress& progress);

} // namespace ptlens::engine
