// The uprobe backend: samples of our probes to calls.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/loaded_recording.hpp"

namespace ptlens::engine {

[[nodiscard]] Result<measure::Measurement> measure_probes(const LoadedRecording& loaded,
                                                          const Progress& progress);

} // namespace ptlens::engine
