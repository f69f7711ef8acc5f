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

constexpr double ns_per_s = 1e9;

bool ends_call(Probe::Kind kind) {
  return kind == Probe::Kind::exit || kind == Probe::Kind::returned;
}

bool ends_calls(const ProbePlan& plan, const Place& place) {
  return std::ranges::any_of(plan.probes, [&place](const PlannedProbe& probe) {
    return probe.leads_to && &**probe.leads_to == &*place;
  });
}

std::string rate_text(const CallRate& rate) {
  return fmt::format("{}{:.0f}", rate.is_least ? "more than " : "", rate.counted);
}

void note_plan(const Request& request, const std::string& target, const CallRate& target_rate,
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
        "%. It is measured in bursts, about {} % of the time. To measure every call, add "
        "--budget 100",
        target, rate_text(target_rate), fmt::format("{:.0f}", 100 * share_of_cost(within.cost)),
        fmt::format("{:.1f}", 100 * within.duty)));
  }
}

// A turn of a thread on a CPU ends with one record, and a wake-up before it is another.
double cost_of_waits(const CallCounts& counted, const ProbeCost& cost) {
  constexpr double records_a_turn = 2;
  return counted.turns_a_s * records_a_turn * cost.wait_ns / ns_per_s / counted.cpus;
}

} // namespace

Result<WithinBudget> keep_within_budget(const Request& request, const Machine& machine,
                                        const std::optional<ProbeCost>& cost, bool records_waits,
                                        const TargetFiles& files, const OwnTime& began,
                                        ProbePlan& plan, std::vector<Note>& notes) {
  const double budget = request.budget / 100;
  const std::vector<std::string>& wanted = request.callees;
  if (wanted.size() == 1 && wanted.front() == "none") {
    plan = without_callees(plan);
  }
  if (!cost || budget >= 1 || !request.attached()) { // without limit, or only while it is recorded
    return WithinBudget{.budget = ProbeBudget(budget)};
  }
  auto counted = count_calls(plan, *cost, files, machine.tracefs, *request.attached());
  if (!counted) {
    return std::unexpected(counted.error());
  }
  std::vector<Candidate> candidates;
  std::vector<const symbols::Function*> functions;
  double entry_ns = 0;
  double pause_ns = 0; // between hits of one function, on average
  for (const PlannedProbe& probe : plan.probes) {
    const HitCost& hit = cost->of(is_emulated(probe.place.binary->code_at(probe.address)));
    if (probe.kind == Probe::Kind::entry) {
      const std::string& name = probe.place->name;
      const CallRate& rate = counted->rates[candidates.size()];
      const bool is_target = probe.target || probe.needed;
      const bool forced = std::ranges::any_of(wanted, [&](const std::string& each) {
        return each == "all" || each == name || each == probe.place->linkage_name;
      });
      const double calls_a_s = is_target ? rate.alone : rate.most;
      constexpr double hits_a_call = 2;
      pause_ns = counted->cpus * ns_per_s / hits_a_call / std::max(calls_a_s, 1.0);
      entry_ns = hit.after(pause_ns);
      candidates.push_back({.name = name,
                            .target = is_target,
                            .forced = forced,
                            .tail = ends_calls(plan, probe.place),
                            .calls_a_s = calls_a_s,
                            .cost_ns = entry_ns});
      functions.push_back(&*probe.place);
    } else if (!candidates.empty() && ends_call(probe.kind)) { // a call ends at one exit
      const HitCost& exit = probe.kind == Probe::Kind::returned ? cost->returned : hit;
      const double exit_ns = exit.after(pause_ns);
      candidates.back().cost_ns = std::max(candidates.back().cost_ns, entry_ns + exit_ns);
    }
  }
  const ProbeBudget left(budget, began.share_since(request.duration_s, counted->cpus));
  const BudgetPlan within = plan_within(candidates, left.planned(), counted->cpus,
                                        records_waits ? cost_of_waits(*counted, *cost) : 0);
  std::vector<std::string> left_out;
  std::erase_if(plan.probes, [&](const PlannedProbe& probe) {
    const auto at = std::ranges::find(functions, &*probe.place);
    return probe.kind != Probe::Kind::goroutine_end && at != functions.end() &&
           !within.chosen[static_cast<std::size_t>(at - functions.begin())];
  });
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    if (!within.chosen[index]) {
      left_out.push_back(
          fmt::format("{} ({} calls/s)", candidates[index].name, rate_text(counted->rates[index])));
    }
  }
  note_plan(request, candidates.front().name, counted->rates.front(), within, left_out, notes);
  WithinBudget result{.budget = left, .in_bursts = within.duty < 1, .removal = {}};
  result.removal =
      std::async(std::launch::async, [counters = std::make_shared<std::vector<Counter>>(
                                          std::move(counted->counters))]() { counters->clear(); });
  return result;
}

std::optional<Note> without_budget(const Request& request, const ProbePlan& plan,
                                   const std::string& target, const TargetFiles& files,
                                   std::span<const Probe> probes, const HitCosts& costs,
                                   double slowdown) {
  constexpr double much = 1.25;
  if (ProbeBudget(request.budget / 100).is_limited() || slowdown < much) {
    return std::nullopt;
  }
  std::uint64_t all = 0;
  std::uint64_t most = 0;
  const PlannedProbe* hit_most = nullptr;
  for (const PlannedProbe& planned : plan.probes) {
    if (planned.kind != Probe::Kind::entry) {
      continue;
    }
    const std::string& binary = files.file_of(planned.place.binary.get())->path;
    std::uint64_t hits = 0;
    for (const Probe& probe : probes) {
      if (probe.function == planned.place->address && probe.binary == binary) {
        hits += costs.hits_of(probe);
      }
    }
    all += hits;
    if (hits > most) {
      most = hits;
      hit_most = &planned;
    }
  }
  if (hit_most == nullptr) {
    return std::nullopt;
  }
  const bool ends_in = !hit_most->target && hit_most->needed;
  return make_note(
      "without_budget",
      "without a budget, the program ran {}: {} % of the hits were in {}{}. To slow "
      "the program by at most 5 %, leave out --budget 100",
      times_slower(slowdown),
      fmt::format("{:.0f}", 100 * static_cast<double>(most) / static_cast<double>(all)),
      hit_most->place->name, ends_in ? fmt::format(", where calls of {} end", target) : "");
}

} // namespace ptlens::record
