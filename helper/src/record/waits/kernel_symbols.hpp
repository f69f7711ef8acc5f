// The names of the kernel's functions in the stacks of a recording. They are read while the kernel
// that made it still runs: after the next boot its code is at other addresses.
#pragma once

#include "perfdata/recording.hpp"
#include "record/manifest.hpp"

#include <vector>

namespace ptlens::record {

// Returns the symbols, in the order of their addresses. Without stacks, or where the kernel hides
// its addresses, there are none.
[[nodiscard]] std::vector<KernelSymbol> kernel_symbols_of(const perfdata::Recording& recording);

} // namespace ptlens::record
