// The intel_pt backend: trace to branches to calls.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/inlined_places.hpp"
#include "engine/loaded_recording.hpp"
#include "measure/inlined.hpp"

namespace ptlens::engine {

// `inlined_names`: fill in the field of that name.
[[nodiscard]] Result<measure::Measurement>
measure_trace(const LoadedRecording& loaded, bool inlined_names, const Progress& progress);

// The same with the executions of inlined code at the places as calls.
[[nodiscard]] Result<measure::InlinedMeasurement>
measure_inlined(const LoadedRecording& loaded, InlinedPlaces& places, const Progress& progress);

[[nodiscard]] Result<flow::DecodeSummary> decode_trace(const LoadedRecording& loaded,
                                                       bool calls_only,
                                                       const BranchListener& listener,
                                                       const Progress& progress);

} // namespace ptlens::engine
