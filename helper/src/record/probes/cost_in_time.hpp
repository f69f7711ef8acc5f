// What a hit cost at each time of a recording: by the two hits on each call's way into the function
// asked about, those on its way out, and by what such told of the cost in the calibration.
#pragma once

#include "perfdata/recording.hpp"
#include "record/manifest.hpp"
#include "record/probes/probe_cost.hpp"

#include <span>
#include <vector>

namespace ptlens::record {

// By thread, in the order of their first calls; only threads that called the function. Samples with
// less than an instruction pointer, and hits without their second one, count for nothing.
[[nodiscard]] std::vector<CostInTime> cost_in_time(std::span<const perfdata::Sample> samples,
                                                   std::span<const perfdata::Attribute> attributes,
                                                   std::span<const Probe> probes,
                                                   const ProbeCost& cost);

} // namespace ptlens::record
