// Latency without what the probes themselves took: each hit costs the thread some time, part of it
// inside the latency of the call whose probe it is, all of it inside the calls around.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

struct ProbedFunction { // ns, measured on functions of known length; 0: has no probes
  double own = 0;       // latency that its own two probes show where the function does nothing
  double hits = 0;      // time that its two hits take from the calls around it
  double own_uncertainty = 0; // either may be off by this much, where CostInTime has nothing
  double hits_uncertainty = 0;
};

struct CostFrom { // what the above has to be multiplied by from a time on
  std::uint64_t from_ns = 0;
  double scale = 1;       // of the latency of the function asked about
  double hit_scale = 1;   // of hits
  double uncertainty = 0; // share of a product
};
using CostInTime = std::vector<std::vector<CostFrom>>; // by thread, ascending; may be shorter

struct CorrectedLatency {
  LatencyStats latency;   // of the complete calls that the selection admits, never below 0
  double removed = 0;     // mean of what was taken off, ns a call
  double uncertainty = 0; // mean of how much that may be off, either way, ns a call
};

// Of all calls of the functions, each once. `probed` by index of function. Where a quarter of the
// calls below show less than their own probes are said to take, hits of that time took no more than
// those calls show.
[[nodiscard]] CorrectedLatency corrected_latency(const Measurement& measurement,
                                                 std::span<const std::uint32_t> functions,
                                                 const Selection& selection,
                                                 const std::vector<ProbedFunction>& probed,
                                                 CostInTime in_time = {});

} // namespace ptlens::measure
