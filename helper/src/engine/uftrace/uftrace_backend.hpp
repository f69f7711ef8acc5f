// The uftrace backend builds calls from the entries and exits of functions that uftrace recorded.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "cache/writing/writer.hpp"
#include "engine/recording/loaded_recording.hpp"

namespace ptlens::engine {

// `loaded.hooked` is set. Errors: those of uftrace::RecordStream; cancelled.
[[nodiscard]] Result<measure::Measurement>
measure_hooks(const LoadedRecording& loaded, cache::Writer& writer, const Progress& progress);

} // namespace ptlens::engine
