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
  std::string command;    // command line: the arguments, separated by spaces
  std::string executable; // /proc/PID/exe; empty when it cannot be read
  double age_s = 0;
  double cpu_percent = 0; // of one core, in the last fifth of a second
  std::uint32_t threads = 0;
  bool container = false;  // runs in another PID namespace
  bool may_attach = false; // same user, or the helper has the permissions
  bool has_source = false; // a mapped binary was built from the requested source file
  bool rebuilt = false;    // the file of that binary was replaced after the process started
};

// Returns the processes with an executable (no kernel threads), processes with has_source first and
// the youngest first. With an empty `source`, has_source is always false.
[[nodiscard]] std::vector<Process> processes(const std::string& source);

struct Thread {
  std::int32_t tid = -1;
  std::string name;       // comm
  double cpu_percent = 0; // as in Process
};

// Returns the threads of a process, the busiest first. Errors: gone.
[[nodiscard]] Result<std::vector<Thread>> threads(std::int32_t pid);

} // namespace ptlens::record
