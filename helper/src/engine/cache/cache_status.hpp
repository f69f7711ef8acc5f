// The state of a recording's call cache, and its removal: `ptlens cache`.
#pragma once

#include "base/error.hpp"
#include "engine/recording/open_options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::engine {

struct CacheStatus {
  std::string path; // its location, existing or not; empty where none can be written
  bool exists = false;
  std::string invalid; // why the cache is not used; empty where it is used
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t recording_bytes = 0; // of perf.data
};

// Returns the status of the cache for the options. Errors: not_found where the recording does not
// exist.
[[nodiscard]] Result<CacheStatus> cache_status(const std::string& recording,
                                               const OpenOptions& options);

// Removes the recording's caches for all options and returns their paths. Errors: failed and
// no_rights where one cannot be removed.
[[nodiscard]] Result<std::vector<std::string>> remove_caches(const std::string& recording);

} // namespace ptlens::engine
