// Files in the user's cache folder ($XDG_CACHE_HOME/ptlens, else ~/.cache/ptlens) with what takes
// long to find out and is true until the next boot.
#pragma once

#include <string>

namespace ptlens::record {

// What such a file depends on. A file names its kernel.
struct BootedKernel {
  std::string boot_id; // /proc/sys/kernel/random/boot_id; empty: not known, and nothing is kept
  std::string release; // as `uname -r` prints it
};

[[nodiscard]] BootedKernel booted_kernel();

// Returns the path of a file of that name; empty: the user has no home folder.
[[nodiscard]] std::string file_of_boot(const std::string& name);

} // namespace ptlens::record
