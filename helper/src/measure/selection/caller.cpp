// The call site decides, then the enclosing call.
#include "measure/selection/caller.hpp"

namespace ptlens::measure {

std::uint32_t caller_of(const Measurement& measurement, std::uint32_t site, std::uint32_t outer) {
  if (site < measurement.sites.size() && measurement.sites[site].function != stacks::no_call) {
    return measurement.sites[site].function;
  }
  return outer;
}

std::uint32_t caller_of(const Measurement& measurement, const CallSubset& subset,
                        std::uint32_t call) {
  return caller_of(measurement, subset.calls().site[call], subset.outer_function(call));
}

} // namespace ptlens::measure
