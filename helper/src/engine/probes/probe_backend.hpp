// The uprobe backend: samples of our probes to calls, which go to the writer.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "cache/writer.hpp"
#include "engine/recording/loaded_recording.hpp"

namespace ptlens::engine {

[[nodiscard]] Result<measure::Measurement>
measure_probes(const LoadedRecording& loaded, cache::Writer& writer, const Progress& progress);

} // namespace ptlens::engine
