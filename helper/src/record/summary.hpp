// What was asked for, what was recorded, what was lost on the way, and what to change.
#pragma once

#include "perfdata/recording.hpp"
#include "record/machine/machine.hpp"
#include "record/perf/session.hpp"
#include "record/recorder.hpp"

namespace ptlens::record {

[[nodiscard]] Summary summarise(const Request& request, const Machine& machine,
                                const SessionEnd& end, const perfdata::Recording& recording,
                                const std::string& backend);

} // namespace ptlens::record
