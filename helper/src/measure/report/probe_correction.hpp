// The latency without the cost of the probes. Each hit of a probe takes time: part of it is in the
// latency of the probed call, all of it in the calls around that call.
#pragma once

#include "measure/measurement.hpp"
#include "measure/report/report.hpp"
#include "measure/selection/selection.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::measure {

// Costs in ns, measured on functions of known length. 0: the function has no probes.
struct ProbedFunction {
  double own = 0;             // the latency of an empty function, which its own probes cause
  double hits = 0;            // the time that its two hits add to the calls around it
  double own_uncertainty = 0; // of `own`, either way, where CostInTime has no value
  double hits_uncertainty = 0;
};

struct CostFrom { // factors for the costs from a time on
  std::uint64_t from_ns = 0;
  double scale = 1;       // for ProbedFunction::own
  double hit_scale = 1;   // for ProbedFunction::hits
  double uncertainty = 0; // share of a product
};
using ProbedFunctions = IdVector<stacks::FunctionId, ProbedFunction>;
using CostInTime = std::vector<std::vector<CostFrom>>; // by thread, ascending; may be shorter

struct CorrectedLatency {
  LatencyStats latency;   // of the complete calls that the selection accepts, never below 0
  double removed = 0;     // mean of the time that was subtracted, ns per call
  double uncertainty = 0; // mean uncertainty of that time, either way, ns per call
};

// Returns the corrected latency of all calls of the functions, which must differ. Where a quarter
// of the calls below are shorter than the cost of their own probes, those calls bound the cost of
// the hits of that time.
[[nodiscard]] CorrectedLatency corrected_latency(const Measurement& measurement,
                                                 std::span<const stacks::FunctionId> functions,
                                                 const Selection& selection,
                                                 const ProbedFunctions& probed,
                                                 CostInTime in_time = {});

} // namespace ptlens::measure
