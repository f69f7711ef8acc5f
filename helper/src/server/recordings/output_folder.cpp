// The default folder of a recording.
#include "server/recordings/output_folder.hpp"

#include "base/user_cache.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace ptlens::server {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 64;

// Returns the name with letters, digits, '.', '_' and '-'; each run of other characters becomes one
// '_'.
std::string file_name(std::string_view function) {
  std::string name;
  for (const char character : function.substr(0, longest_name)) {
    const bool plain = (character >= 'a' && character <= 'z') ||
                       (character >= 'A' && character <= 'Z') ||
                       (character >= '0' && character <= '9') || character == '.' ||
                       character == '_' || character == '-';
    if (plain) {
      name += character;
    } else if (!name.ends_with('_')) {
      name += '_';
    }
  }
  return name.empty() ? "all" : name;
}

// Returns the user's folder of recordings; empty where the environment does not define one.
fs::path recordings_of_user() {
  const fs::path state = environment_variable("XDG_STATE_HOME");
  if (state.is_absolute()) {
    return state / "ptlens" / "recordings";
  }
  const fs::path home = environment_variable("HOME");
  return home.is_absolute() ? home / ".local" / "state" / "ptlens" / "recordings" : fs::path();
}

} // namespace

Result<std::string> new_recording_folder(const std::string& function, const std::string& wanted) {
  const fs::path parent = wanted.empty() ? recordings_of_user() : fs::path(wanted);
  if (parent.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::failed,
                                 .message = "neither XDG_STATE_HOME nor HOME is an absolute path",
                                 .remedy = "give `output`, the folder to create"});
  }
  if (!parent.is_absolute()) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "the folder of recordings is not an absolute path",
                                 .file = parent,
                                 .remedy = "give a path that begins with /"});
  }
  std::error_code error;
  const bool made = fs::create_directories(parent, error);
  if (!error && (made || wanted.empty())) {
    fs::permissions(parent, fs::perms::owner_all, error);
  }
  if (error) {
    return std::unexpected(Error{.kind = Error::Kind::failed,
                                 .message = "cannot create the folder: " + error.message(),
                                 .file = parent,
                                 .remedy = "give `output`, the folder to create"});
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string stem =
      fmt::format("{:%Y%m%dT%H%M%SZ}-{}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                  file_name(function));
  std::string name = stem;
  for (int attempt = 2; fs::exists(parent / name, error); ++attempt) {
    name = fmt::format("{}-{}", stem, attempt);
  }
  return parent / name;
}

} // namespace ptlens::server
