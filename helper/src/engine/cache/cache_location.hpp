// Where the store of a recording lies: beside its trace, or, where nothing can be written there, in
// the user's cache folder ($XDG_CACHE_HOME/ptlens, else ~/.cache/ptlens).
//
//   perf.data.calls              of the usual options
//   perf.data.1a2b3c4d.calls     of others: --pid, --symfs, --decoder, ...
//   perf.data.sources            what its sources were
#pragma once

#include "engine/engine.hpp"

#include <string>
#include <vector>

namespace ptlens::engine {

inline constexpr const char* store_end = ".calls";
inline constexpr const char* names_end = ".names"; // behind store_end: see kept_calls.hpp

// The helper's folder in the user's cache; empty where the user has none.
[[nodiscard]] std::string cache_folder();

// Where it may be, best place first.
[[nodiscard]] std::vector<std::string>
store_places(const std::string& recording, const std::string& data, const OpenOptions& options);

// Where measured_sources.hpp keeps what it does, best place first.
[[nodiscard]] std::vector<std::string> sources_places(const std::string& data);

// The place to write it to; empty where there is none. Makes the cache folder.
[[nodiscard]] std::string place_to_write(const std::vector<std::string>& places);

// All stores of the recording, of whatever options, and what was left half-written.
[[nodiscard]] std::vector<std::string> all_stores(const std::string& data);

} // namespace ptlens::engine
