// Measures with probes, and with the context switches that perf_event_open(2) records.
#pragma once

#include "base/progress.hpp"
#include "record/machine/machine.hpp"
#include "record/manifest.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <string>

namespace ptlens::record {

// Sets the probes, records, and removes the probes. Fills in the manifest's probes, notes, measured
// intervals and slowdown. Errors: the errors of find_target, plan_probes, ProbeGroup and
// run_hit_session.
[[nodiscard]] Result<Summary> record_uprobe(const Request& request, const Machine& machine,
                                            const std::string& data_file, const Progress& progress,
                                            Manifest& manifest);

} // namespace ptlens::record
