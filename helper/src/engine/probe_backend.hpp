// The uprobe backend: samples of our probes to calls, which go to the writer.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/loaded_recording.hpp"
#include "store/writer.hpp"

namespace ptlens::engine {

[[nodiscard]] Result<measure::Measurement>
measure_probes(const LoadedRecording& loaded, store::Writer& writer, const Progress& progress);

} // namespace ptlens::engine
