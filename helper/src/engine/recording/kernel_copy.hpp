// The kernel's code and symbols for a recording: the files that `perf record --kcore` writes beside
// the trace, or files that the user names. They are compared with the recorded kernel.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "engine/recording/open_options.hpp"
#include "perfdata/recording.hpp"
#include "symbols/binary.hpp"

#include <memory>
#include <optional>
#include <string>

namespace ptlens::engine {

struct KernelCopy {
  std::shared_ptr<const symbols::Binary> code; // null: not available
  std::optional<Note> note;                    // what could not be checked
};

// Opens the files. `data`: the recording's trace file. Errors: not_found; bad_input where the files
// belong to another kernel, or to the same one at another address; those of
// symbols::Binary::open_kernel.
[[nodiscard]] Result<KernelCopy> open_kernel(const perfdata::Recording& recording,
                                             const std::string& data, const OpenOptions& options);

} // namespace ptlens::engine
