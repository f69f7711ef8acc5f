// The processes of this machine that could be measured, for pickers.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

struct Process {
  std::int32_t pid = -1;
  std::uint64_t start_time = 0; // clock ticks since boot, /proc/PID/stat field 22
  std::string user;
  std::string name;       // comm
  std::string command;    // command line, arguments joined by spaces
  std::string executable; // /proc/PID/exe, empty where it may not be read
  double age_s = 0;
  double cpu_percent = 0; // of one core, in the last fifth of a second
  std::uint32_t threads = 0;
  bool container = false;  // lives in another namespace of processes than we
  bool may_attach = false; // same user, or we have the rights
  bool has_source = false; // some mapped binary was made from the source file asked about
  bool rebuilt = false;    // the file of that binary is another by now than the one that runs
};

// Processes with an executable (no kernel threads), youngest first; those with has_source before
// the others. `source` empty: has_source is false throughout.
[[nodiscard]] std::vector<Process> processes(const std::string& source);

struct Thread {
  std::int32_t tid = -1;
  std::string name;       // comm
  double cpu_percent = 0; // as of a Process
};

// Of a process, busiest first. Errors: gone.
[[nodiscard]] Result<std::vector<Thread>> threads(std::int32_t pid);

// Paths of the files that are mapped executable in a process, the executable first. Errors: gone,
// no_rights.
[[nodiscard]] Result<std::vector<std::string>> mapped_binaries(std::int32_t pid);

} // namespace ptlens::record
