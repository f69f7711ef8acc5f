// Measurements whose calls are kept in a store between one question and the next.
#pragma once

#include "base/error.hpp"
#include "cache/writer.hpp"
#include "engine/engine.hpp"
#include "measure/measurement.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ptlens::engine {

// The measurement of a store that is whole and valid; nothing where there is none. The inlined
// names are filled in where they are known, `names_known` says so.
struct CachedMeasurement {
  measure::Measurement measurement;
  std::string path; // of the store
  bool names_known = false;
};
[[nodiscard]] std::optional<CachedMeasurement>
open_kept(const std::string& recording, const std::string& data, const OpenOptions& options);

// Gives the measurement, which was made while the writer took its calls, the store of them. Notes
// of the measurement say where it could not be kept. Errors: those of cache::Writer::finish.
[[nodiscard]] Result<void> keep(measure::Measurement& measurement, cache::Writer& writer,
                                const std::string& key, bool names_known);

// Keeps the measurement's inlined names beside its store, to be found by open_kept. They can be
// lacking: nothing tells where they cannot be written.
void keep_names(const measure::Measurement& measurement, const std::string& store_path);

} // namespace ptlens::engine
