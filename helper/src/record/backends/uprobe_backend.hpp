// Measures with probes: perf records probe events and context switches.
#pragma once

#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <string>

namespace ptlens::record {

// Sets the probes, runs perf, and removes the probes. Fills in the manifest's probes, notes and
// perf command. Errors: the errors of find_target, plan_probes, ProbeGroup and run_session; failed
// with perf's reason when it recorded nothing.
[[nodiscard]] Result<Summary> record_uprobe(const Request& request, const Machine& machine,
                                            const std::string& perf, const std::string& data_file,
                                            const Progress& progress, Manifest& manifest);

} // namespace ptlens::record
