// The kernel's code and names for a recording: as `perf record --kcore` leaves them beside the
// trace, or as the user names them; held against what the recording says of its kernel.
#pragma once

#include "base/error.hpp"
#include "engine/engine.hpp"
#include "perfdata/recording.hpp"
#include "symbols/binary.hpp"

#include <memory>
#include <string>

namespace ptlens::engine {

struct KernelCopy {
  std::shared_ptr<const symbols::Binary> code; // nullptr: there is none
  std::string note; // what could not be checked, a sentence; empty: all of it is the recording's
};

// `data` is the file of the recording. Errors: not_found, bad_input where the copy is of another
// kernel, or of the same one loaded elsewhere, and those of symbols::Binary::open_kernel.
[[nodiscard]] Result<KernelCopy> open_kernel(const perfdata::Recording& recording,
                                             const std::string& data, const OpenOptions& options);

} // namespace ptlens::engine
