// The intel_pt backend: trace to branches to calls.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/loaded_recording.hpp"

namespace ptlens::engine {

[[nodiscard]] Result<measure::Measurement> measure_trace(const LoadedRecording& loaded,
                                                         const Progress& progress);

[[nodiscard]] Result<flow::DecodeSummary> decode_trace(const LoadedRecording& loaded,
                                                       bool calls_only,
                                                       const BranchListener& listener,
                                                       const Progress& progress);

} // namespace ptlens::engine
