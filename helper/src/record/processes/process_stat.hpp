// The state of a process: /proc/PID/stat, proc(5).
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptlens::record {

struct ProcessStat {
  std::string name;             // field 2, comm
  char state = '?';             // field 3
  std::int32_t parent = -1;     // field 4
  std::uint64_t start_time = 0; // field 22, clock ticks since boot
  std::uint64_t cpu_time = 0;   // fields 14 and 15, clock ticks in user and kernel code
  std::uint32_t threads = 0;    // field 20

  // Returns false for a zombie and for a process that is being removed.
  [[nodiscard]] bool runs() const { return state != 'Z' && state != 'X'; }
};

// Parses the text of /proc/PID/stat. The name can contain spaces and parentheses.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

// Returns nothing when the process does not exist.
[[nodiscard]] std::optional<ProcessStat> process_stat(std::int32_t pid);

// Returns true until the process with that number and start time ends.
[[nodiscard]] bool is_running(std::int32_t pid, std::uint64_t start_time);

// The error for a process that does not exist.
[[nodiscard]] Error process_is_gone(std::int32_t pid);

} // namespace ptlens::record
