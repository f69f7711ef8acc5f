// The intel_pt backend decodes a trace to branches and builds calls from them.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "cache/writing/writer.hpp"
#include "engine/inlined/inlined_places.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/branch_listener.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/watched_function.hpp"

#include <string>
#include <vector>

namespace ptlens::engine {

// Measures the recording. The calls go to the writer as they close; the caller completes the cache.
[[nodiscard]] Result<measure::Measurement> measure_trace(const LoadedRecording& loaded,
                                                         cache::Writer& writer,
                                                         const measure::Watch& watch,
                                                         const Progress& progress);

// Returns the names of functions that were inlined in the binaries of the functions, for
// Measurement::inlined_names. Reads all of their debug information.
[[nodiscard]] std::vector<std::string>
names_inlined(const LoadedRecording& loaded, const std::vector<stacks::FunctionInfo>& functions);

// Measures the recording with the executions of inlined code at the places as calls.
[[nodiscard]] Result<measure::InlinedMeasurement>
measure_inlined(const LoadedRecording& loaded, InlinedPlaces& places, const Progress& progress);

// Gives every branch to the listener; see decode() in engine/engine.hpp.
[[nodiscard]] Result<flow::DecodeSummary> decode_trace(const LoadedRecording& loaded,
                                                       bool calls_only,
                                                       const BranchListener& listener,
                                                       const Progress& progress);

} // namespace ptlens::engine
