// The folder follows the XDG base directory specification.
#include "engine/recording/cache_folder.hpp"

#include <cstdlib>

namespace ptlens::engine {

std::string environment_variable(const char* name) {
  const char* const value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value == nullptr ? "" : value;
}

std::string cache_folder() {
  if (const std::string cache = environment_variable("XDG_CACHE_HOME"); cache.starts_with('/')) {
    return cache + "/ptlens";
  }
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.cache/ptlens";
}

} // namespace ptlens::engine
