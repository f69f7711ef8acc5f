#include "engine/uftrace/hook_cost.hpp"

#include <algorithm>
#include <numeric>

namespace ptlens::engine {

std::uint32_t HookCostEstimate::low(const std::vector<std::uint64_t>& counts) {
  constexpr std::uint64_t share = 20;
  constexpr std::size_t most_cost_ns = 100;
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::uint64_t below = 0;
  for (std::size_t ns = 0; ns < counts.size(); ++ns) {
    below += counts[ns];
    if (below > all / share) {
      return static_cast<std::uint32_t>(std::min(ns, most_cost_ns));
    }
  }
  return 0;
}

stacks::HookCost HookCostEstimate::cost() const {
  return {.inside = low(inside_), .around = low(around_)};
}

} // namespace ptlens::engine
