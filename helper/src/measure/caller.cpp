// Call site first, then the frame below.
#include "measure/caller.hpp"

namespace ptlens::measure {

std::uint32_t caller_of(const Measurement& measurement, std::uint32_t call) {
  const stacks::CallTable& calls = measurement.calls;
  const std::uint32_t site = calls.site[call];
  if (site < measurement.sites.size() && measurement.sites[site].function != stacks::no_call) {
    return measurement.sites[site].function;
  }
  const std::uint32_t parent = calls.parent[call];
  return parent == stacks::no_call ? stacks::no_call : calls.function[parent];
}

} // namespace ptlens::measure
