// The helper's folder in the user's cache folder (XDG base directory specification), and files that
// are replaced as a whole.
#pragma once

#include <string>
#include <string_view>

namespace ptlens {

// Returns the value of an environment variable; empty where it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

// Returns $XDG_CACHE_HOME/ptlens, else ~/.cache/ptlens; empty where the user has neither.
[[nodiscard]] std::string cache_folder();

// Replaces the file, which only its owner can read, and creates its folder. After a failure there
// is no file, or the old one.
void keep_in_cache(const std::string& file, std::string_view contents);

} // namespace ptlens
