// The cost of a probe hit over the time of a recording. It is calculated from the time between the
// two hits at each entry and exit of the requested function, and from the calibration.
#pragma once

#include "perfdata/recording.hpp"
#include "record/manifest.hpp"
#include "record/probes/probe_cost.hpp"

#include <span>
#include <vector>

namespace ptlens::record {

// Returns the costs of each thread that called the function, in the order of their first calls.
// Ignores samples without an instruction pointer, and hits without their second hit.
[[nodiscard]] std::vector<CostInTime> cost_in_time(std::span<const perfdata::Sample> samples,
                                                   std::span<const perfdata::Attribute> attributes,
                                                   std::span<const Probe> probes,
                                                   const ProbeCost& cost);

} // namespace ptlens::record
