// Names of cache files.
#include "engine/cache/cache_location.hpp"

#include "base/checksum.hpp"
#include "base/user_cache.hpp"
#include "engine/cache/cache_key.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <unistd.h>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* cache_folder_only = "cache"; // PTLENS_CACHE: never beside the recording

// Returns the start of the recording's file names in the cache folder. The hash of its path
// distinguishes it from other recordings with the same name.
std::string cache_prefix(const std::string& data) {
  std::error_code ignored;
  const std::string path = fs::weakly_canonical(fs::absolute(data, ignored), ignored).string();
  return fmt::format("{:016x}-{}", checksum(std::as_bytes(std::span(path))),
                     fs::path(data).filename().string());
}

// Returns the locations of the file with that suffix: beside the recording, and in the cache
// folder.
std::vector<std::string> locations_of(const std::string& data, const std::string& suffix) {
  std::vector<std::string> locations;
  const std::string setting = environment_variable("PTLENS_CACHE");
  if ((setting.empty() ? environment_variable("PTLENS_STORE") : setting) != cache_folder_only) {
    locations.push_back(data + suffix);
  }
  if (const std::string folder = cache_folder(); !folder.empty()) {
    locations.push_back(fmt::format("{}/{}{}", folder, cache_prefix(data), suffix));
  }
  return locations;
}

} // namespace

std::vector<std::string> cache_locations(const std::string& recording, const std::string& data,
                                         const OpenOptions& options) {
  const std::uint64_t hash = options_hash(recording, data, options);
  const bool default_options = hash == options_hash(recording, data, OpenOptions{});
  const std::string suffix =
      default_options ? cache_suffix : fmt::format(".{:08x}{}", hash & UINT32_MAX, cache_suffix);
  return locations_of(data, suffix);
}

std::vector<std::string> sources_locations(const std::string& data) {
  return locations_of(data, ".sources");
}

std::string writable_location(const std::vector<std::string>& locations) {
  for (const std::string& location : locations) {
    const fs::path folder = fs::path(location).parent_path();
    std::error_code failed;
    if (!folder.empty() && location == locations.back()) {
      fs::create_directories(folder, failed);
    }
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) {
      return location;
    }
  }
  return "";
}

std::vector<std::string> all_caches(const std::string& data) {
  std::vector<std::string> found;
  const auto search = [&](const fs::path& folder, const std::string& begin) {
    std::error_code ended;
    for (fs::directory_iterator at(folder.empty() ? "." : folder, ended), end; !ended && at != end;
         at.increment(ended)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with(begin) &&
          name.find(cache_suffix, begin.size() - 1) != std::string::npos) {
        found.push_back(at->path().string());
      }
    }
  };
  const fs::path path(data);
  search(path.parent_path(), path.filename().string() + '.');
  if (const std::string folder = cache_folder(); !folder.empty()) {
    search(folder, cache_prefix(data) + '.');
  }
  return found;
}

} // namespace ptlens::engine
