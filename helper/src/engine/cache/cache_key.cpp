// The key is CBOR, which stores paths as their exact bytes.
#include "engine/cache/cache_key.hpp"

#include "base/checksum.hpp"
#include "base/own_build.hpp"
#include "record/manifest.hpp"
#include "symbols/dwarf/debuginfod.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <sys/stat.h>
#include <sys/utsname.h>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Returns size, time and inode of a file, or of all files in a folder; null where it does not
// exist.
Json state_of(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    return nullptr;
  }
  if (S_ISDIR(status.st_mode)) {
    std::set<std::string> names;
    std::error_code ended;
    for (fs::directory_iterator at(path, ended), end; !ended && at != end; at.increment(ended)) {
      names.insert(at->path().filename().string());
    }
    Json files = Json::array();
    for (const std::string& name : names) {
      const fs::path file = fs::path(path) / name;
      files.push_back(
          Json::array({name, fs::is_directory(file, ended) ? Json() : state_of(file.string())}));
    }
    return files;
  }
  return Json::array({static_cast<std::int64_t>(status.st_size),
                      static_cast<std::int64_t>(status.st_mtim.tv_sec),
                      static_cast<std::int64_t>(status.st_mtim.tv_nsec),
                      static_cast<std::uint64_t>(status.st_ino)});
}

Json machine() {
  utsname system{};
  return ::uname(&system) == 0 ? Json::array({system.nodename, system.release}) : Json();
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return path.empty() ? "" : fs::absolute(path, ignored).string();
}

std::string manifest_of(const std::string& recording) {
  std::error_code ignored;
  return fs::is_directory(recording, ignored)
             ? (fs::path(recording) / record::manifest_name).string()
             : "";
}

Json options_of(const std::string& recording, const std::string& data, const OpenOptions& options) {
  std::error_code ignored;
  return {{"symfs", absolute(options.symfs)},
          {"kallsyms", absolute(options.kallsyms)},
          {"kcore", absolute(options.kcore)},
          {"decoder", static_cast<int>(options.decoder)},
          {"pid", options.pid.value_or(0)},
          {"debuginfod", symbols::debuginfod_allowed()},
          {"folder", fs::is_directory(recording, ignored)}, // with its manifest
          {"data", fs::path(data).filename().string()}};
}

// Files beside the recording are named without their folder, so that the recording can be moved.
Json recording_of(const std::string& recording, const std::string& data) {
  const std::string manifest = manifest_of(recording);
  return {{"data", state_of(data)}, {"manifest", manifest.empty() ? Json() : state_of(manifest)}};
}

bool is_of_this_process(const std::string& path) {
  return path.starts_with("/proc/self/");
}

Json parsed(std::string_view key) {
  return Json::from_cbor(key.begin(), key.end(), true, false);
}

} // namespace

std::string cache_key(const std::string& recording, const std::string& data,
                      const OpenOptions& options, const std::set<std::string>& files) {
  Json listed = Json::array();
  for (const std::string& file : files) {
    if (!is_of_this_process(file)) {
      const std::string path = absolute(file);
      listed.push_back(Json::array({path, state_of(path)}));
    }
  }
  const Json key = {{"helper", own_build()},
                    {"machine", machine()},
                    {"options", options_of(recording, data, options)},
                    {"recording", recording_of(recording, data)},
                    {"files", std::move(listed)}};
  std::string bytes;
  Json::to_cbor(key, bytes);
  return bytes;
}

std::string mismatch(std::string_view key, const std::string& recording, const std::string& data,
                     const OpenOptions& options) {
  const Json cached = parsed(key);
  if (!cached.is_object() || !cached.contains("files") || !cached["files"].is_array()) {
    return "its key cannot be read";
  }
  if (cached.value("helper", Json()) != own_build()) {
    return "another build of ptlens wrote it";
  }
  if (cached.value("recording", Json()) != recording_of(recording, data)) {
    return "the recording has changed";
  }
  if (cached.value("options", Json()) != options_of(recording, data, options)) {
    return "it was written with other options";
  }
  if (cached.value("machine", Json()) != machine()) {
    return "another machine or kernel wrote it";
  }
  for (const Json& file : cached["files"]) {
    if (!file.is_array() || file.size() != 2 || !file[0].is_string()) {
      return "its key cannot be read";
    }
    if (const auto& path = file[0].get_ref<const std::string&>(); state_of(path) != file[1]) {
      return fmt::format("{} {}", path, file[1].is_null() ? "was added" : "has changed");
    }
  }
  return "";
}

std::uint64_t options_hash(const std::string& recording, const std::string& data,
                           const OpenOptions& options) {
  std::string bytes;
  Json::to_cbor(options_of(recording, data, options), bytes);
  return checksum(bytes);
}

} // namespace ptlens::engine
