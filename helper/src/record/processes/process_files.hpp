// The files that a process runs, and the paths that open them from here. The path in
// /proc/PID/maps can name another file here: the process may have another root (chroot) or other
// mounts (a container), and the file may have been removed or replaced since it was mapped.
#pragma once

#include "base/error.hpp"
#include "record/processes/process_maps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

struct ProcessFile {
  std::string path = {};      // as perf records it: in the file system of the process
  std::string open_path = {}; // opens exactly the mapped file from here; empty: nothing does

  // Returns true where the path itself does not open the mapped file here.
  [[nodiscard]] bool elsewhere() const { return open_path != path; }
};

// Returns the files that a process has mapped executable, its executable first. Errors: gone,
// no_rights.
[[nodiscard]] Result<std::vector<ProcessFile>> process_files(std::int32_t pid);

// Returns the path that opens the mapped file from here: its own path, or one through the root
// directory of the process, or the name that the kernel gives to the mapping, which also opens a
// file that was removed. Returns an empty string where none opens that very file.
[[nodiscard]] std::string reachable_path(std::int32_t pid, const MappedFile& file,
                                         bool is_executable);

} // namespace ptlens::record
