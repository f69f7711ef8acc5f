// What makes the latency vary: Var(latency) = sum over the parts of Cov(part, latency), since the
// parts of a call sum to its latency (the variance tree of VProfiler, Huang et al., EuroSys 2017,
// folded).
#pragma once

#include "measure/explain/explanation.hpp"
#include "measure/explain/slow_and_typical.hpp"

#include <vector>

namespace ptlens::measure {

// Returns the share of each part in the variance of the calls' latency, the largest first; nothing
// where all latencies are equal.
[[nodiscard]] std::vector<VariancePart> variance_parts(const Measurement& measurement,
                                                       stacks::FunctionId function,
                                                       const FunctionCalls& calls);

} // namespace ptlens::measure
