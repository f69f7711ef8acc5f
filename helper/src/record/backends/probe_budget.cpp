#include "record/backends/probe_budget.hpp"

#include "record/probes/cost/call_counts.hpp"
#include "record/probes/plan/budget_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace ptlens::record {
namespace {

bool ends_call(Probe::Kind kind) {
  return kind == Probe::Kind::exit || kind == Probe::Kind::returned;
}

bool ends_calls(const ProbePlan& plan, const Place& place) {
  return std::ranges::any_of(plan.probes, [&place](const PlannedProbe& probe) {
    return probe.leads_to && &**probe.leads_to == &*place;
  });
}

void note_plan(const Request& request, const std::vector<Candidate>& candidates,
               const BudgetPlan& within, std::vector<std::string> left_out,
               std::vector<Note>& notes) {
  constexpr std::size_t shown = 8;
  const std::string budget = fmt::format("{:g}", request.budget);
  if (!left_out.empty()) {
    const std::size_t more = left_out.size() > shown ? left_out.size() - shown : 0;
    left_out.resize(left_out.size() - more);
    const std::string rest = more == 0 ? std::string() : fmt::format(" and {} more", more);
    notes.push_back(make_note("callees_left_out",
                              "not measured, to slow the program by at most {} %: {}{}. To "
                              "measure them too, add --budget 100 or --callees NAME",
                              budget, fmt::to_string(fmt::join(left_out, ", ")), rest));
  }
  if (within.duty < 1) {
    notes.push_back(make_note(
        "bursts",
        "{} is called {} times a second, and measuring every call would slow the program by {} "
        "%. It is measured in bursts, {} % of the time. To measure every call, add --budget 100",
        candidates.front().name, fmt::format("{:.0f}", candidates.front().calls_a_s),
        fmt::format("{:.0f}", 100 * std::min(within.share, 0.99)),
        fmt::format("{:.1f}", 100 * within.duty)));
  }
}

} // namespace

Result<WithinBudget> keep_within_budget(const Request& request, const Machine& machine,
                                        const std::optional<ProbeCost>& cost,
                                        const TargetFiles& files, ProbePlan& plan,
                                        std::vector<Note>& notes) {
  const double budget = request.budget / 100;
  const std::vector<std::string>& wanted = request.callees;
  if (wanted.size() == 1 && wanted.front() == "none") {
    plan = without_callees(plan);
  }
  if (!cost || budget >= 1 || !request.attached()) {
    return WithinBudget{}; // without limit, or only while it is recorded
  }
  auto counted = count_calls(plan, files, machine.tracefs, *request.attached());
  if (!counted) {
    return std::unexpected(counted.error());
  }
  std::vector<Candidate> candidates;
  std::vector<const symbols::Function*> functions;
  double entry_ns = 0;
  for (const PlannedProbe& probe : plan.probes) {
    const HitCost& hit = cost->of(is_emulated(probe.place.binary->code_at(probe.address)));
    if (probe.kind == Probe::Kind::entry) {
      const std::string& name = probe.place->name;
      const double calls = counted->calls_a_s[candidates.size()];
      const bool forced = std::ranges::any_of(wanted, [&](const std::string& each) {
        return each == "all" || each == name || each == probe.place->linkage_name;
      });
      candidates.push_back({.name = name,
                            .target = probe.target || probe.needed,
                            .forced = forced,
                            .tail = ends_calls(plan, probe.place),
                            .calls_a_s = calls,
                            .cost_ns = hit.frequent_ns});
      functions.push_back(&*probe.place);
      entry_ns = hit.frequent_ns;
    } else if (!candidates.empty() && ends_call(probe.kind)) { // a call ends at one exit
      const double exit_ns =
          probe.kind == Probe::Kind::returned ? cost->returned.frequent_ns : hit.frequent_ns;
      candidates.back().cost_ns = std::max(candidates.back().cost_ns, entry_ns + exit_ns);
    }
  }
  const BudgetPlan within = plan_within(candidates, planned_share(budget), counted->cpus);
  std::vector<std::string> left_out;
  std::erase_if(plan.probes, [&](const PlannedProbe& probe) {
    const auto at = std::ranges::find(functions, &*probe.place);
    return probe.kind != Probe::Kind::goroutine_end && at != functions.end() &&
           !within.chosen[static_cast<std::size_t>(at - functions.begin())];
  });
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    if (!within.chosen[index]) {
      left_out.push_back(
          fmt::format("{} ({:.0f} calls/s)", candidates[index].name, candidates[index].calls_a_s));
    }
  }
  note_plan(request, candidates, within, left_out, notes);
  WithinBudget result{.duty = within.duty, .removal = {}};
  result.removal = std::async(
      std::launch::async,
      [counts = std::make_shared<CallCounts>(std::move(*counted))]() mutable { counts.reset(); });
  return result;
}

} // namespace ptlens::record
