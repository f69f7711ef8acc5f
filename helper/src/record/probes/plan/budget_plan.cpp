#include "record/probes/plan/budget_plan.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::record {

BudgetPlan plan_within(std::span<const Candidate> candidates, double budget, double cpus) {
  constexpr double ns_per_s = 1e9;
  constexpr double least_cpus = 0.01;
  BudgetPlan plan;
  plan.chosen.resize(candidates.size());
  const auto share_of = [&](std::size_t index) {
    const Candidate& candidate = candidates[index];
    return candidate.calls_a_s * candidate.cost_ns / ns_per_s / std::max(cpus, least_cpus);
  };
  std::vector<std::size_t> optional;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    if (candidates[index].target || candidates[index].forced || budget >= 1) {
      plan.chosen[index] = true;
      plan.share += share_of(index);
    } else {
      optional.push_back(index);
    }
  }
  std::ranges::stable_sort(optional, {}, [&](std::size_t index) {
    return std::pair(!candidates[index].tail, share_of(index));
  });
  for (const std::size_t index : optional) {
    if (share_of(index) > std::max(0.0, budget - plan.share)) {
      continue;
    }
    plan.chosen[index] = true;
    plan.share += share_of(index);
  }
  if (budget < 1 && plan.share > budget) {
    plan.duty = budget / plan.share;
  }
  return plan;
}

} // namespace ptlens::record
