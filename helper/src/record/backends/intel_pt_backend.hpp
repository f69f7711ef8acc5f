// Measures with Intel Processor Trace: perf writes the trace, and later stages decode it.
#pragma once

#include "base/progress.hpp"
#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <string>

namespace ptlens::record {

// Runs perf, and fills in the manifest's notes and perf command. Errors: unsupported when the
// machine has no Intel PT and the request does not name a replacement for perf; no_rights; the
// errors of find_target (with --filter) and of run_session; failed with perf's reason when it
// recorded nothing.
[[nodiscard]] Result<Summary> record_intel_pt(const Request& request, const Machine& machine,
                                              const std::string& perf, const std::string& data_file,
                                              const Progress& progress, Manifest& manifest);

} // namespace ptlens::record
