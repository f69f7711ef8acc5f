// Compares our decoder with libipt's instruction decoder, branch by branch, for every trace
// fragment of a recording. The reference stops at missing code and resumes at a PSB. Our branches
// in between cannot be judged; they are counted.
#pragma once

#include "base/error.hpp"
#include "base/progress.hpp"
#include "engine/recording/open_options.hpp"
#include "engine/trace/branch_comparison.hpp"

#include <string>

namespace ptlens::engine {

// Compares up to the first difference. Errors: those of open().
[[nodiscard]] Result<Verdict> verify(const std::string& recording, const OpenOptions& options,
                                     const Progress& progress);

} // namespace ptlens::engine
