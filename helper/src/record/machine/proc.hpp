// What /proc says about processes and about the kernel's settings. Formats: proc(5).
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// The whole of a small file, at most `limit` bytes of it; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_text(const std::string& path,
                                                   std::size_t limit = 1 << 20);

// The number that a file such as /proc/sys/kernel/perf_event_paranoid holds.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::string& path);

struct ProcessStat {
  std::string name;             // field 2, comm
  char state = '?';             // field 3
  std::int32_t parent = -1;     // field 4
  std::uint64_t start_time = 0; // field 22, clock ticks since boot
  std::uint64_t cpu_time = 0;   // fields 14 and 15, clock ticks in user and kernel code
  std::uint32_t threads = 0;    // field 20
};

// Parses the text of /proc/PID/stat. The name may hold spaces and parentheses.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

// Nothing when there is no such process.
[[nodiscard]] std::optional<ProcessStat> process_stat(std::int32_t pid);

// True while the process of that number and start time has not ended.
[[nodiscard]] bool is_running(std::int32_t pid, std::uint64_t start_time);

struct MappedFile {
  std::string path;       // in the target's file system
  bool deleted = false;   // the file was removed or replaced after it was mapped
  std::string range = {}; // of addresses, as its first executable mapping's name in map_files
};

// Files that are mapped executable according to the text of /proc/PID/maps, each once, in its
// order.
[[nodiscard]] std::vector<MappedFile> parse_executable_maps(std::string_view text);

// The same of a process, its executable first. Errors: gone, no_rights.
[[nodiscard]] Result<std::vector<MappedFile>> mapped_files(std::int32_t pid);

// What to put before a path of the target's file system to open it from here: "/proc/PID/root"
// where the target lives in another mount namespace or root, else nothing.
[[nodiscard]] std::string root_of(std::int32_t pid);

// The target of a symbolic link, empty where it cannot be read.
[[nodiscard]] std::string link_target(const std::string& path);

// True for files below the folders where a system keeps its own programs and libraries.
[[nodiscard]] bool is_system_file(std::string_view path);

} // namespace ptlens::record
