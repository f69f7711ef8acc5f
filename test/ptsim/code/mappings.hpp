// The executable mappings of a process, from /proc/PID/maps.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0; // bytes
  std::uint32_t protection = 0;  // PROT_ bits
  std::uint32_t flags = 0;       // MAP_ bits
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;
  std::string path; // "[vdso]", "//anon" where no file is mapped

  bool operator==(const Mapping&) const = default;
};

// Executable mappings by address, without [vsyscall], which user tools cannot read. Errors: gone.
Result<std::vector<Mapping>> executable_mappings(pid_t pid);

} // namespace ptlens::ptsim
