// Groups the slow calls by their dominant part, and describes each group by a predicate that holds
// for its calls and for few others (Liblit et al., "Scalable statistical bug isolation", PLDI 2005:
// the harmonic mean of precision and recall).
#pragma once

#include "measure/explain/explanation.hpp"
#include "measure/explain/parts.hpp"

#include <span>
#include <vector>

namespace ptlens::measure {

// Returns the groups, the largest first, until they cover 90 % of the slow calls; eight at most.
// `parts`: those of the level of the explained function's calls; their indices are those of the
// components.
[[nodiscard]] std::vector<SlowKind> slow_kinds(const Measurement& measurement,
                                               stacks::FunctionId function, const Owners& owners,
                                               std::span<const PartValues> parts);

} // namespace ptlens::measure
