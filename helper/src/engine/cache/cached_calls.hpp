// Measurements whose calls were cached by an earlier question.
#pragma once

#include "base/error.hpp"
#include "cache/writing/writer.hpp"
#include "engine/recording/open_options.hpp"
#include "measure/measurement.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptlens::engine {

// A measurement that was read from a valid cache. `names_known`: its inlined names are filled in.
struct CachedMeasurement {
  measure::Measurement measurement;
  std::string path; // of the cache
  bool names_known = false;
};
// Returns nothing where there is no valid cache.
[[nodiscard]] std::optional<CachedMeasurement>
open_cached(const std::string& recording, const std::string& data, const OpenOptions& options);

// Completes the cache that the writer filled while the measurement was made, and gives it to the
// measurement. A note of the measurement says where the file could not be written. Errors: those of
// cache::Writer::finish.
[[nodiscard]] Result<void> finish_cache(measure::Measurement& measurement, cache::Writer& writer,
                                        const std::string& key, bool names_known);

// Writes the measurement's inlined names beside its cache, where open_cached finds them. A failure
// to write them is ignored: they are computed again.
void write_inlined_names(const measure::Measurement& measurement, const std::string& cache_path);

} // namespace ptlens::engine
