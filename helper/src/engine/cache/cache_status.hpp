// What is kept of a recording, and forgetting it: `ptlens store`.
#pragma once

#include "base/error.hpp"
#include "engine/engine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::engine {

struct StoreStatus {
  std::string path; // where it is, or would be; empty where nothing can be written
  bool exists = false;
  std::string invalid; // why it is not used; empty where it is
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t recording_bytes = 0; // of perf.data
};

// Of the store that belongs to the options. Errors: not_found where there is no such recording.
[[nodiscard]] Result<StoreStatus> store_status(const std::string& recording,
                                               const OpenOptions& options);

// Removes all stores of the recording, of whatever options. Gives what was removed. Errors: failed
// and no_rights where one cannot be removed.
[[nodiscard]] Result<std::vector<std::string>> forget_stores(const std::string& recording);

} // namespace ptlens::engine
