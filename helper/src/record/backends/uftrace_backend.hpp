// Measures a program that is started, with hooks at all of its functions: uftrace sets them and
// writes the calls.
#pragma once

#include "base/progress.hpp"
#include "record/manifest.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <string>

namespace ptlens::record {

// Checks whether uftrace is installed and can measure the requested program. Errors: bad_input
// where no program is started; not_found where uftrace is missing; the errors of program_hooks.
[[nodiscard]] Result<void> check_uftrace(const Request& request);

// Runs uftrace, which writes `folder`. Fills in the manifest's binary, notes and command. Errors:
// those of check_uftrace and find_targets; failed with uftrace's reason when it recorded nothing.
[[nodiscard]] Result<Summary> record_uftrace(const Request& request, const std::string& folder,
                                             const Progress& progress, Manifest& manifest);

} // namespace ptlens::record
