// The order in which the dynamic linker of a running process searches its files for a symbol.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::record {

// Returns the paths of the files, as /proc/PID/maps shows them, in the order of the linker's own
// list: the executable, preloaded libraries, then the others breadth-first. Empty for a static
// program, for a 32-bit one, and where its memory cannot be read.
[[nodiscard]] std::vector<std::string> link_order(std::int32_t pid);

} // namespace ptlens::record
