// A folder that `uftrace record` wrote (uftrace.data): what was recorded, and where each thread's
// records are. Written for uftrace 0.13, whose formats later versions keep.
#pragma once

#include "base/error.hpp"
#include "perfdata/contents/side_band.hpp"
#include "uftrace/info.hpp"
#include "uftrace/symbol_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::uftrace {

struct ThreadFile {
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::uint64_t start_ns = 0; // of the thread, or of the program where the thread's is unknown
  std::string path = {};      // of the records; empty where the thread called no function
  std::uint64_t bytes = 0;
};

struct Folder {
  std::string path;
  Info info;
  // The modules of each process as mappings, forks, execs, names, exits and context switches.
  perfdata::SideBand side_band;
  std::vector<ThreadFile> threads; // by tid

  [[nodiscard]] std::uint64_t record_bytes() const;
  // Reads the symbols of a module. Returns an empty file where the folder has none.
  [[nodiscard]] SymbolFile symbols_of(const std::string& module,
                                      const std::vector<std::uint8_t>& build_id) const;
};

// Returns true where the path is a folder with a file `info` that uftrace wrote, or should have
// written: one named uftrace.data, or one beside which are records of uftrace.
[[nodiscard]] bool is_folder(const std::string& path);

// Opens the folder. Errors: those of read_info, read_task_list, read_session_map and
// read_scheduling; bad_input where a process has no map or no thread has records.
[[nodiscard]] Result<Folder> open_folder(const std::string& path);

} // namespace ptlens::uftrace
