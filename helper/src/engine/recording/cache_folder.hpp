// The helper's folder in the user's cache folder.
#pragma once

#include <string>

namespace ptlens::engine {

// Returns the value of an environment variable; empty where it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

// Returns the helper's folder in the user's cache folder; empty where the user has none.
[[nodiscard]] std::string cache_folder();

} // namespace ptlens::engine
