#include "base/user_cache.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace ptlens {

namespace fs = std::filesystem;

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? "" : value;
}

std::string cache_folder() {
  if (const std::string cache = environment_variable("XDG_CACHE_HOME"); cache.starts_with('/')) {
    return cache + "/ptlens";
  }
  const std::string home = environment_variable("HOME");
  return home.starts_with('/') ? home + "/.cache/ptlens" : "";
}

void keep_in_cache(const std::string& file, std::string_view contents) {
  std::error_code failed;
  fs::create_directories(fs::path(file).parent_path(), failed);
  const std::string temporary = file + "." + std::to_string(::getpid());
  {
    std::ofstream out(temporary, std::ios::trunc | std::ios::binary);
    fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write, failed);
    out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    out.flush();
    if (!out) {
      failed = std::make_error_code(std::errc::io_error);
    }
  }
  if (!failed) {
    fs::rename(temporary, file, failed);
  }
  if (failed) {
    fs::remove(temporary, failed);
  }
}

} // namespace ptlens
