#pragma once

#include "perfdata/recording.hpp"
#include "record/machine/machine.hpp"
#include "record/perf/session.hpp"
#include "record/request.hpp"
#include "record/summary.hpp"

#include <string>

namespace ptlens::record {

[[nodiscard]] Summary summarize(const Request& request, const Machine& machine,
                                const SessionEnd& end, const perfdata::Recording& recording,
                                const std::string& backend);

} // namespace ptlens::record
