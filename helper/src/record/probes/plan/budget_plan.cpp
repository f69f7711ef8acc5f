#include "record/probes/plan/budget_plan.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::record {

namespace {

constexpr double least_part = 0.2; // of the budget, where the helper's own work takes most of it

} // namespace

double ProbeBudget::most() const {
  return is_limited() ? std::max(least_part * whole_, whole_ - own_) : whole_;
}

double ProbeBudget::planned() const {
  constexpr double planned_part = 0.5;
  return is_limited() ? std::max(least_part * whole_, planned_part * most()) : whole_;
}

BudgetPlan plan_within(std::span<const Candidate> candidates, double budget, double cpus,
                       double other_cost) {
  constexpr double ns_per_s = 1e9;
  constexpr double least_cpus = 0.01;
  BudgetPlan plan{.chosen = {}, .cost = other_cost};
  plan.chosen.resize(candidates.size());
  const auto cost_of = [&](std::size_t index) {
    const Candidate& candidate = candidates[index];
    return candidate.calls_a_s * candidate.cost_ns / ns_per_s / std::max(cpus, least_cpus);
  };
  std::vector<std::size_t> optional;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    if (candidates[index].target || candidates[index].forced || budget >= 1) {
      plan.chosen[index] = true;
      plan.cost += cost_of(index);
    } else {
      optional.push_back(index);
    }
  }
  std::ranges::stable_sort(optional, {}, [&](std::size_t index) {
    return std::pair(!candidates[index].tail, cost_of(index));
  });
  constexpr double negligible = 0.01; // beside the rest of the plan
  for (const std::size_t index : optional) {
    if (cost_of(index) > std::max(negligible * plan.cost, budget - plan.cost)) {
      continue;
    }
    plan.chosen[index] = true;
    plan.cost += cost_of(index);
  }
  if (budget < 1 && plan.cost > budget) {
    plan.duty = std::min(1.0, budget / share_of_cost(plan.cost));
  }
  return plan;
}

} // namespace ptlens::record
