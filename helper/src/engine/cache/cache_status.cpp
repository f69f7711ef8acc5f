// Stores as files.
#include "engine/cache/cache_status.hpp"

#include "cache/call_cache.hpp"
#include "engine/bundle/bundle.hpp"
#include "engine/cache/cache_key.hpp"
#include "engine/cache/cache_location.hpp"
#include "engine/recording/loaded_recording.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace ptlens::engine {

namespace fs = std::filesystem;

Result<StoreStatus> store_status(const std::string& named, const OpenOptions& options) {
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
  const std::vector<std::string> places = store_places(recording, data, options);
  const std::uintmax_t data_bytes = fs::file_size(data, ignored);
  StoreStatus status;
  status.recording_bytes = ignored ? 0 : data_bytes;
  for (const std::string& place : places) {
    const std::uintmax_t bytes = fs::file_size(place, ignored);
    if (ignored) {
      continue;
    }
    StoreStatus found{.path = place,
                      .exists = true,
                      .invalid = {},
                      .bytes = bytes,
                      .recording_bytes = status.recording_bytes};
    if (const auto store = cache::CallCache::open(place)) {
      found.invalid = mismatch((*store)->key(), recording, data, options);
      found.calls = (*store)->calls();
    } else {
      found.invalid = store.error().message;
    }
    if (found.invalid.empty() || !status.exists) {
      status = std::move(found);
    }
    if (status.invalid.empty()) {
      return status;
    }
  }
  if (!status.exists) {
    status.path = place_to_write(places);
    status.invalid = "nothing is kept yet";
  }
  return status;
}

Result<std::vector<std::string>> forget_stores(const std::string& named) {
  const auto recording = unpacked(named);
  if (!recording) {
    return std::unexpected(recording.error());
  }
  std::vector<std::string> removed;
  for (const std::string& path : all_stores(data_file(*recording))) {
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
