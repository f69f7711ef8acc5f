// The location of a recording's call cache: beside its trace, or, where that folder is read-only,
// in the user's cache folder ($XDG_CACHE_HOME/ptlens, else ~/.cache/ptlens).
//
//   perf.data.calls              the cache for the default options
//   perf.data.1a2b3c4d.calls     the cache for other options: --pid, --symfs, --decoder, ...
//   perf.data.sources            the measured sources
#pragma once

#include "engine/recording/open_options.hpp"

#include <string>
#include <vector>

namespace ptlens::engine {

inline constexpr const char* cache_suffix = ".calls";
inline constexpr const char* names_suffix = ".names"; // after cache_suffix: see cached_calls.hpp

// Returns the possible locations of the cache, the preferred one first.
[[nodiscard]] std::vector<std::string>
cache_locations(const std::string& recording, const std::string& data, const OpenOptions& options);

// Returns the possible locations of the measured sources, the preferred one first.
[[nodiscard]] std::vector<std::string> sources_locations(const std::string& data);

// Returns the first location that can be written; empty where there is none. Creates the cache
// folder.
[[nodiscard]] std::string writable_location(const std::vector<std::string>& locations);

// Returns the caches of the recording for all options, and incomplete files of interrupted writers.
[[nodiscard]] std::vector<std::string> all_caches(const std::string& data);

} // namespace ptlens::engine
