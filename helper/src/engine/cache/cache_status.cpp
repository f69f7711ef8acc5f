// Call caches as files.
#include "engine/cache/cache_status.hpp"

#include "cache/reading/call_cache.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/cache/cache_key.hpp"
#include "engine/cache/cache_location.hpp"
#include "engine/recording/loaded_recording.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::engine {

namespace fs = std::filesystem;

Result<CacheStatus> cache_status(const std::string& named, const OpenOptions& options) {
  const auto unpacked_to = unpacked(named);
  if (!unpacked_to) {
    return std::unexpected(unpacked_to.error());
  }
  const std::string& recording = *unpacked_to;
  const std::string data = data_file(recording);
  std::error_code ignored;
  if (!fs::exists(data, ignored)) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = "No such file or directory",
                                 .file = data,
                                 .remedy = "check the path"});
  }
  const std::vector<std::string> locations = cache_locations(recording, data, options);
  const std::uintmax_t data_bytes = fs::file_size(data, ignored);
  CacheStatus status;
  status.recording_bytes = ignored ? 0 : data_bytes;
  for (const std::string& location : locations) {
    const std::uintmax_t bytes = fs::file_size(location, ignored);
    if (ignored) {
      continue;
    }
    CacheStatus found{.path = location,
                      .exists = true,
                      .invalid = {},
                      .bytes = bytes,
                      .recording_bytes = status.recording_bytes};
    if (const auto calls = cache::CallCache::open(location)) {
      found.invalid = mismatch((*calls)->key(), recording, data, options);
      found.calls = (*calls)->calls();
    } else {
      found.invalid = calls.error().message;
    }
    if (found.invalid.empty() || !status.exists) {
      status = std::move(found);
    }
    if (status.invalid.empty()) {
      return status;
    }
  }
  if (!status.exists) {
    status.path = writable_location(locations);
    status.invalid = "no question has been answered yet, so that nothing is cached";
  }
  return status;
}

Result<std::vector<std::string>> remove_caches(const std::string& named) {
  const auto recording = unpacked(named);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  std::vector<std::string> removed;
  for (const std::string& path : all_caches(data_file(*recording))) {
    std::error_code failure;
    if (fs::remove(path, failure)) {
      removed.push_back(path);
    } else if (failure) {
      return std::unexpected(Error{.kind = failure == std::errc::permission_denied
                                               ? Error::Kind::no_rights
                                               : Error::Kind::failed,
                                   .message = failure.message(),
                                   .file = path});
    }
  }
  return removed;
}

} // namespace ptlens::engine
