// Which backend made a recording, and the way through it.
#include "engine/engine.hpp"

#include "engine/inlined_places.hpp"
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

using SharedMeasurement = std::shared_ptr<const measure::Measurement>;
using SharedInlined = std::shared_ptr<const measure::InlinedMeasurement>;

Result<LoadedRecording> load_to_measure(const std::string& recording, const OpenOptions& options,
                                        const Progress& progress) {
  progress.report({"opening", 0, 0, "bytes"});
  auto loaded = load(recording, options);
  if (loaded && !loaded->has_trace() && !loaded->has_probes()) {
    return std::unexpected(nothing_to_measure(*loaded));
  }
  return loaded;
}

Result<SharedMeasurement> measure_calls(const LoadedRecording& loaded, const OpenOptions& options,
                                        const Progress& progress) {
  auto measured = loaded.has_trace() ? measure_trace(loaded, options.inlined_names, progress)
                                     : measure_probes(loaded, progress);
  if (!measured) {
    return std::unexpected(measured.error());
  }
  return std::make_shared<const measure::Measurement>(std::move(*measured));
}

// Null where no such function was inlined.
Result<SharedInlined> measure_inlined(const LoadedRecording& loaded, const std::string& name,
                                      const std::string& binary, const Progress& progress) {
  if (!loaded.has_trace() || name.empty()) {
    return nullptr;
  }
  InlinedPlaces places(loaded, name, binary);
  if (places.empty()) {
    return nullptr;
  }
  auto measured = measure_inlined(loaded, places, progress);
  if (!measured) {
    return std::unexpected(measured.error());
  }
  return std::make_shared<const measure::InlinedMeasurement>(std::move(*measured));
}

} // namespace

Result<SharedMeasurement> open(const std::string& recording, const OpenOptions& options,
                               const Progress& progress) {
  const auto loaded = load_to_measure(recording, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return measure_calls(*loaded, options, progress);
}

Result<SharedInlined> inlined(const std::string& recording, const OpenOptions& options,
                              const std::string& name, const std::string& binary,
                              const Progress& progress) {
  const auto loaded = load_to_measure(recording, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return measure_inlined(*loaded, name, binary, progress);
}

Result<Opened> open_with_inlined(const std::string& recording, const OpenOptions& options,
                                 const std::string& name, const std::string& binary,
                                 const Progress& progress) {
  const auto loaded = load_to_measure(recording, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  auto inlined = measure_inlined(*loaded, name, binary, progress);
  if (!inlined) {
    return std::unexpected(inlined.error());
  }
  if (*inlined != nullptr) {
    auto calls = std::make_shared<const measure::Measurement>(measure::without_inlined(**inlined));
    return Opened{std::move(calls), std::move(*inlined)};
  }
  auto calls = measure_calls(*loaded, options, progress);
  if (!calls) {
    return std::unexpected(calls.error());
  }
  return Opened{std::move(*calls), nullptr};
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
