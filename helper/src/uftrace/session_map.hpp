// The file sid-ID.map of a uftrace folder: the modules of a program image, one a line, in the form
// of /proc/PID/maps with a build-id behind the path (libmcount/record.c, record_proc_maps). A line
// covers all segments of its module.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::uftrace {

struct Module {
  std::uint64_t start = 0; // process addresses [start, end)
  std::uint64_t end = 0;
  std::string path;
  std::vector<std::uint8_t> build_id = {}; // empty where not recorded
};

// Reads the file. Errors: not_found, no_rights; bad_input where a line cannot be read.
[[nodiscard]] Result<std::vector<Module>> read_session_map(const std::string& path);

// Returns the bytes of a build-id in hexadecimal digits; empty where it is none.
[[nodiscard]] std::vector<std::uint8_t> build_id_of(std::string_view digits);

} // namespace ptlens::uftrace
