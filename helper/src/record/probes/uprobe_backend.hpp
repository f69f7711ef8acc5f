// Measures by probes: a perf recording of our probe events and of switches.
#pragma once

#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/recorder.hpp"

#include <string>

namespace ptlens::record {

// Sets the probes, runs perf, removes the probes. Fills in the manifest's probes, notes and perf
// command. Errors: those of find_target, plan_probes, ProbeGroup and run_session; failed with what
// perf said when it recorded nothing.
[[nodiscard]] Result<Summary> record_uprobe(const Request& request, const Machine& machine,
                                            const std::string& perf, const std::string& data_file,
                                            const Progress& progress, Manifest& manifest);

} // namespace ptlens::record
