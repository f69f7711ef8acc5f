// Chooses the backend of a recording, and answers from its cache where there is one.
#include "engine/engine.hpp"

#include "base/cancellation.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/cache/cache_key.hpp"
#include "engine/cache/cache_location.hpp"
#include "engine/cache/cached_calls.hpp"
#include "engine/inlined/inlined_places.hpp"
#include "engine/probes/probe_backend.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "engine/trace/line_time_backend.hpp"
#include "engine/trace/load_trace.hpp"
#include "engine/trace/parting_backend.hpp"
#include "engine/trace/trace_backend.hpp"
#include "engine/uftrace/uftrace_backend.hpp"
#include "engine/waits/recorded_waits.hpp"
#include "symbols/elf/opened_files.hpp"

namespace ptlens::engine {
namespace {

Error nothing_to_measure(const LoadedRecording& loaded) {
  return {.kind = Error::Kind::bad_input,
          .message = "the recording contains neither an Intel PT trace nor probes of ptlens",
          .file = loaded.recording.path(),
          .remedy =
              "record with 'ptlens record', 'perf record -e intel_pt//u' or 'uftrace record'"};
}

Error cancelled() {
  return {.kind = Error::Kind::cancelled, .message = "opening the recording was cancelled"};
}

using SharedMeasurement = std::shared_ptr<const measure::Measurement>;
using SharedInlined = std::shared_ptr<const measure::InlinedMeasurement>;

Result<LoadedRecording> load_to_measure(const std::string& recording, const OpenOptions& options,
                                        const Progress& progress) {
  progress.report({"opening", 0, 0, "bytes"});
  const Cancellable scope(progress);
  auto loaded = load(recording, options);
  if (progress.cancelled()) {
    return std::unexpected(cancelled());
  }
  if (loaded && !loaded->has_trace() && !loaded->has_probes() && !loaded->hooked) {
    return std::unexpected(nothing_to_measure(*loaded));
  }
  return loaded;
}

// Loads a recording that a user named, which may be a bundle.
Result<LoadedRecording> load_named(const std::string& named, const OpenOptions& options,
                                   const Progress& progress) {
  const auto recording = unpacked(named);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  return load_to_measure(*recording, options, progress);
}

// Decodes the recording. Its cache is a file where one is wanted and can be written; else it is in
// memory.
Result<SharedMeasurement> measure_calls(const LoadedRecording& loaded, const std::string& data,
                                        const OpenOptions& options,
                                        const symbols::OpenedFiles& trail,
                                        const Progress& progress) {
  cache::Writer::Options output;
  output.encoders = cache::Writer::encoders_for(loaded.decode.workers);
  output.memory_bytes = std::min<std::size_t>(output.memory_bytes, memory_bound(options) / 4);
  if (options.use_cache) {
    output.path = writable_location(cache_locations(loaded.path, data, options));
  }
  cache::Writer writer(std::move(output));
  auto measured = loaded.has_trace() ? measure_trace(loaded, writer, options.watch, progress)
                  : loaded.hooked    ? measure_hooks(loaded, writer, progress)
                                     : measure_probes(loaded, writer, progress);
  if (!measured) {
    return std::unexpected(measured.error());
  }
  if (options.inlined_names && loaded.has_trace()) {
    progress.report({"reading debug information", 0, 0, "bytes"});
    const Cancellable scope(progress);
    measured->inlined_names = names_inlined(loaded, measured->functions);
  }
  if (progress.cancelled()) {
    return std::unexpected(cancelled());
  }
  const std::string key = cache_key(loaded.path, data, options, trail.paths());
  if (auto finished = finish_cache(*measured, writer, key, options.inlined_names); !finished) {
    return std::unexpected(finished.error());
  }
  measured->waits = waits_on_use(loaded.path, options);
  return std::make_shared<const measure::Measurement>(std::move(*measured));
}

// Completes a cached measurement with the inlined names where they are requested.
Result<SharedMeasurement> with_names(CachedMeasurement cached, const OpenOptions& options,
                                     const Progress& progress) {
  if (options.inlined_names && !cached.names_known) {
    progress.report({"reading debug information", 0, 0, "bytes"});
    const Cancellable scope(progress);
    const auto loaded = load(cached.measurement.recording.path, options);
    if (!loaded) {
      return std::unexpected(loaded.error());
    }
    if (loaded->has_trace()) {
      cached.measurement.inlined_names = names_inlined(*loaded, cached.measurement.functions);
    }
    if (progress.cancelled()) {
      return std::unexpected(cancelled());
    }
    write_inlined_names(cached.measurement, cached.path);
  }
  cached.measurement.waits = waits_on_use(cached.measurement.recording.path, options);
  return std::make_shared<const measure::Measurement>(std::move(cached.measurement));
}

// Returns null where no such function was inlined.
Result<SharedInlined> measure_inlined(const LoadedRecording& loaded, const OpenOptions& options,
                                      const std::string& name, const std::string& binary,
                                      const Progress& progress) {
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
  measured->measurement.waits = waits_on_use(loaded.path, options);
  return std::make_shared<const measure::InlinedMeasurement>(std::move(*measured));
}

// Opens a recording with the source paths of the recorded machine.
Result<SharedMeasurement> open_unmapped(const std::string& named, const OpenOptions& options,
                                        const Progress& progress) {
  const auto unpacked_to = unpacked(named);
  if (!unpacked_to) {
    return std::unexpected(unpacked_to.error());
  }
  const std::string& recording = *unpacked_to;
  const std::string data = data_file(recording);
  if (options.use_cache) {
    progress.report({"opening", 0, 0, "bytes"});
    if (auto cached = open_cached(recording, data, options)) {
      return with_names(std::move(*cached), options, progress);
    }
  }
  const symbols::OpenedFiles trail;
  const auto loaded = load_to_measure(recording, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return measure_calls(*loaded, data, options, trail, progress);
}

} // namespace

Result<SharedMeasurement> open(const std::string& named, const OpenOptions& options,
                               const Progress& progress) {
  auto opened = open_unmapped(named, options, progress);
  if (!opened) {
    return opened;
  }
  const std::optional<Note> absent = absent_sources(named, options.source_map);
  if (options.source_map.empty() && !absent) {
    return opened;
  }
  measure::Measurement mapped = **opened;
  map_sources(options.source_map, mapped);
  if (absent) {
    mapped.recording.notes.push_back(*absent);
  }
  return std::make_shared<const measure::Measurement>(std::move(mapped));
}

Result<SharedInlined> inlined(const std::string& named, const OpenOptions& options,
                              const std::string& name, const std::string& binary,
                              const Progress& progress) {
  const auto loaded = load_named(named, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  auto found = measure_inlined(*loaded, options, name, binary, progress);
  if (!found || *found == nullptr || options.source_map.empty()) {
    return found;
  }
  measure::InlinedMeasurement mapped = **found;
  map_sources(options.source_map, mapped.measurement);
  return std::make_shared<const measure::InlinedMeasurement>(std::move(mapped));
}

Result<std::shared_ptr<const line_time::LineTimes>>
line_times(const std::string& named, const OpenOptions& options,
           const std::vector<stacks::FunctionInfo>& functions, const Progress& progress) {
  const auto loaded = load_named(named, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  if (!loaded->has_trace()) {
    return nullptr;
  }
  auto measured = measure_line_times(*loaded, functions, progress);
  if (!measured) {
    return std::unexpected(measured.error());
  }
  return std::make_shared<const line_time::LineTimes>(std::move(*measured));
}

Result<std::optional<measure::Parting>> parting(const std::string& recording,
                                                const OpenOptions& options,
                                                const measure::Measurement& measurement,
                                                const measure::Timeline& timeline,
                                                const Progress& progress) {
  const auto pairs = measure::pairs_to_compare(measurement, timeline);
  if (pairs.empty() || measurement.recording.backend != "intel_pt") {
    return std::nullopt;
  }
  const auto loaded = load_named(recording, options, progress);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  std::vector<stacks::FunctionInfo> functions;
  for (const measure::TracedPair& pair : pairs) {
    functions.push_back(measurement.functions[pair.function]);
  }
  return find_parting(*loaded, pairs, functions, progress);
}

Result<Opened> open_with_inlined(const std::string& recording, const OpenOptions& options,
                                 const std::string& name, const std::string& binary,
                                 const Progress& progress) {
  OpenOptions with_names = options;
  with_names.inlined_names = true;
  auto calls = open(recording, with_names, progress);
  if (!calls) {
    return std::unexpected(calls.error());
  }
  Opened opened{std::move(*calls), nullptr};
  if (measure::may_be_inlined(*opened.measurement, name)) {
    auto found = inlined(recording, options, name, binary, progress);
    if (!found) {
      return std::unexpected(found.error());
    }
    opened.inlined = std::move(*found);
  }
  return opened;
}

Result<flow::DecodeSummary> decode(const std::string& named, const OpenOptions& options,
                                   bool calls_only, const BranchListener& listener,
                                   const Progress& progress) {
  const auto loaded = load_trace(named, options);
  if (!loaded) {
    return std::unexpected(loaded.error());
  }
  return decode_trace(*loaded, calls_only, listener, progress);
}

} // namespace ptlens::engine
