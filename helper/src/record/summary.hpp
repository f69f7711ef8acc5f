// What was asked for, what was recorded, what was lost on the way, and what to change.
#pragma once

#include "perfdata/recording.hpp"
#include "record/machine.hpp"
#include "record/recorder.hpp"
#include "record/session.hpp"

namespace ptlens::record {

[[nodiscard]] Summary summarise(const Request& request, const Machine& machine,
                                const SessionEnd& end, const perfdata::Recording& recording,
                                const std::string& backend);

} // namespace ptlens::record
