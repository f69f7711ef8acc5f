// The files that a process has mapped: /proc/PID/maps, proc(5). The only reader of that format in
// the helper.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

struct MappedFile {
  std::string path;       // in the target's file system
  bool deleted = false;   // the file was removed or replaced after it was mapped
  std::string range = {}; // the name of its first executable mapping in /proc/PID/map_files
  std::uint64_t inode = 0;
};

// A mapping of a file.
struct MappedRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0; // exclusive
  std::string path = {};
};

inline constexpr std::size_t longest_maps = std::size_t{64} << 20U; // bytes read of the file

// Returns the mappings of files according to the text of /proc/PID/maps, in its order.
[[nodiscard]] std::vector<MappedRange> parse_file_ranges(std::string_view text);

// Returns the files that are mapped executable according to the text of /proc/PID/maps, each once,
// in the order of the text.
[[nodiscard]] std::vector<MappedFile> parse_executable_maps(std::string_view text);

// Returns the files that a process has mapped executable, its executable first. Errors: gone,
// no_rights.
[[nodiscard]] Result<std::vector<MappedFile>> mapped_files(std::int32_t pid);

// Returns the path prefix that opens a file of the target's file system from here: "/proc/PID/root"
// when the target runs in another mount namespace or root, otherwise an empty string.
[[nodiscard]] std::string root_of(std::int32_t pid);

// Returns true for files in the folders where a system keeps its own programs and libraries.
[[nodiscard]] bool is_system_file(std::string_view path);

} // namespace ptlens::record
