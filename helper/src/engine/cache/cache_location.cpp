// Names of stores.
#include "engine/cache/cache_location.hpp"

#include "cache/checksum.hpp"
#include "engine/cache/cache_key.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string_view>
#include <unistd.h>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* cache_only = "cache"; // PTLENS_STORE: never beside the recording

std::string variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? "" : value;
}

// Of a recording in the cache folder: where it is tells it from others of its name.
std::string cache_prefix(const std::string& data) {
  std::error_code ignored;
  const std::string path = fs::weakly_canonical(fs::absolute(data, ignored), ignored).string();
  return fmt::format("{:016x}-{}", cache::checksum(std::as_bytes(std::span(path))),
                     fs::path(data).filename().string());
}

// A file with that end beside the recording, or in the cache folder.
std::vector<std::string> places_of(const std::string& data, const std::string& end) {
  std::vector<std::string> places;
  if (variable("PTLENS_STORE") != cache_only) {
    places.push_back(data + end);
  }
  if (const std::string folder = cache_folder(); !folder.empty()) {
    places.push_back(fmt::format("{}/{}{}", folder, cache_prefix(data), end));
  }
  return places;
}

} // namespace

std::string cache_folder() {
  if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/')) {
    return cache + "/ptlens";
  }
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/ptlens";
}

std::vector<std::string> store_places(const std::string& recording, const std::string& data,
                                      const OpenOptions& options) {
  const std::uint64_t hash = options_hash(recording, data, options);
  const bool usual = hash == options_hash(recording, data, OpenOptions{});
  const std::string end =
      usual ? store_end : fmt::format(".{:08x}{}", hash & UINT32_MAX, store_end);
  return places_of(data, end);
}

std::vector<std::string> sources_places(const std::string& data) {
  return places_of(data, ".sources");
}

std::string place_to_write(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    const fs::path folder = fs::path(place).parent_path();
    std::error_code failed;
    if (!folder.empty() && place == places.back()) {
      fs::create_directories(folder, failed);
    }
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0) {
      return place;
    }
  }
  return "";
}

std::vector<std::string> all_stores(const std::string& data) {
  std::vector<std::string> found;
  const auto search = [&](const fs::path& folder, const std::string& begin) {
    std::error_code ended;
    for (fs::directory_iterator at(folder.empty() ? "." : folder, ended), end; !ended && at != end;
         at.increment(ended)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with(begin) && name.find(store_end, begin.size() - 1) != std::string::npos) {
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
