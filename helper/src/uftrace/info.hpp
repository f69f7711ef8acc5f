// The file `info` of a uftrace folder: a binary header (struct uftrace_file_header of uftrace.h),
// then lines of text, which lines being in a mask of the header (cmds/info.c).
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>

namespace ptlens::uftrace {

struct Info {
  std::uint32_t version = 0;
  bool library_calls = false;     // calls through the PLT were recorded
  bool kernel = false;            // kernel functions were recorded, in files of their own
  bool relative_symbols = false;  // addresses in *.sym are relative to the start of their module
  bool scheduling = false;        // perf-cpu*.dat may contain context switches
  bool estimated_returns = false; // --estimate-return: the times of returns are not measured
  std::string program;            // path of the executable
  std::string command_line;       // of uftrace; empty where not recorded
  std::string hostname;
  std::string uftrace_version;
};

// Reads the file. Errors: not_found, no_rights, bad_input (another magic number, cut off),
// unsupported (another version of the format, big-endian, a 32-bit program).
[[nodiscard]] Result<Info> read_info(const std::string& path);

} // namespace ptlens::uftrace
