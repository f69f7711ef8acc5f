// The uprobe backend builds calls from samples of our probes.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "cache/writing/writer.hpp"
#include "engine/recording/loaded_recording.hpp"

namespace ptlens::engine {

[[nodiscard]] Result<measure::Measurement>
measure_probes(const LoadedRecording& loaded, cache::Writer& writer, const Progress& progress);

} // namespace ptlens::engine
