// Which backend made a recording, and the way through it.
#include "engine/engine.hpp"

#include "engine/loaded_recording.hpp"
#include "engine/probe_backend.hpp"
#include "engine/trace_backend.hpp"

namespace ptlens::engine {
namespace {

Error nothing_to_measure(const LoadedRecording& loaded) {
  return {.kind = Error::Kind::bad_input,
          .message = "holds no Intel PT trace and no probes of ptlens",
          .file = loaded.recording.path(),
          .remedy = "make one with 'ptlens record' or 'perf record -e intel_pt//u'"};
}

} // namespace

Result<std::shared_ptr<const measure::Measurement>>
open(const std::string& recording, const OpenOptions& options, const Progress& progress) {
  progress.report({"opening", 0, 0, "bytes"});
  auto loaded = load(recording, options);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  if (!loaded->has_trace() && !loaded->has_probes()) {
    return std::unexpected(nothing_to_measure(*loaded));
  }
  auto measured =
      loaded->has_trace() ? measure_trace(*loaded, progress) : measure_probes(*loaded, progress);
  if (!measured) {
    return std::unexpected(measured.error());
  }
  return std::make_shared<const measure::Measurement>(std::move(*measured));
}

Result<flow::DecodeSummary> decode(const std::string& recording, const OpenOptions& options,
                                   bool calls_only, const BranchListener& listener,
                                   const Progress& progress) {
  auto loaded = load(recording, options);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  if (!loaded->has_trace()) {
    return std::unexpected(nothing_to_decode(*loaded));
  }
  return decode_trace(*loaded, calls_only, listener, progress);
}

} // namespace ptlens::engine
