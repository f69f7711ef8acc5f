// The intel_pt backend: trace to branches to calls.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "cache/writer.hpp"
#include "engine/inlined/inlined_places.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "measure/report/inlined.hpp"
#include "measure/report/watched_function.hpp"

#include <string>
#include <vector>

namespace ptlens::engine {

// All but the calls, which go to the writer as they close.
[[nodiscard]] Result<measure::Measurement> measure_trace(const LoadedRecording& loaded,
                                                         cache::Writer& writer,
                                                         const measure::Watch& watch,
                                                         const Progress& progress);

// Last components of the names of functions that compilers inlined in the binaries of the
// functions, ascending: Measurement::inlined_names. Reads all of their debug information.
[[nodiscard]] std::vector<std::string>
names_inlined(const LoadedRecording& loaded, const std::vector<stacks::FunctionInfo>& functions);

// The same with the executions of inlined code at the places as calls.
[[nodiscard]] Result<measure::InlinedMeasurement>
measure_inlined(const LoadedRecording& loaded, InlinedPlaces& places, const Progress& progress);

[[nodiscard]] Result<flow::DecodeSummary> decode_trace(const LoadedRecording& loaded,
                                                       bool calls_only,
                                                       const BranchListener& listener,
                                                       const Progress& progress);

} // namespace ptlens::engine
