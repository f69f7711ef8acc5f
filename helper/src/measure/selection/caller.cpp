// The call site decides, then the enclosing call.
#include "measure/selection/caller.hpp"

namespace ptlens::measure {

stacks::FunctionId caller_of(const Measurement& measurement, stacks::SiteId site,
                             stacks::FunctionId outer) {
  if (measurement.sites.has(site) && measurement.sites[site].function != stacks::FunctionId::none) {
    return measurement.sites[site].function;
  }
  return outer;
}

stacks::FunctionId caller_of(const Measurement& measurement, const CallSubset& subset,
                             std::uint32_t call) {
  return caller_of(measurement, subset.calls().site[call], subset.outer_function(call));
}

} // namespace ptlens::measure
