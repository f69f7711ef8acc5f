// The functions that a recording of `ptlens record` was made to measure.
#pragma once

#include "engine/recording/loaded_recording.hpp"
#include "measure/measurement.hpp"
#include "record/manifest.hpp"
#include "stacks/transfer/symbolizer.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::engine {

// Adds the functions that were asked for and had no call, so that questions about them have an
// answer.
void add_asked_functions(const LoadedRecording& loaded, stacks::Symbolizer& symbolizer);

// Returns the functions of the measurement that the recording was made to measure, ascending;
// nothing where it contains the calls of all functions.
[[nodiscard]] std::optional<std::vector<stacks::FunctionId>>
asked_functions(const measure::Measurement& measurement);

// Returns whether the function had no call although the recording contains all calls of it.
[[nodiscard]] bool was_not_called(const measure::Measurement& measurement,
                                  stacks::FunctionId function);

} // namespace ptlens::engine
