// Counts calls for a moment, and plans what is probed within the budget.
#pragma once

#include "base/error.hpp"
#include "base/note.hpp"
#include "record/machine/machine.hpp"
#include "record/probe_table.hpp"
#include "record/probes/cost/own_time.hpp"
#include "record/probes/cost/probe_cost.hpp"
#include "record/probes/cost/probe_load.hpp"
#include "record/probes/plan/budget_plan.hpp"
#include "record/probes/plan/probe_plan.hpp"
#include "record/request.hpp"
#include "record/targets/target_files.hpp"

#include <future>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::record {

struct WithinBudget {
  ProbeBudget budget = ProbeBudget();
  bool in_bursts = false;         // the function alone would break the budget
  std::future<void> removal = {}; // of the probes that counted calls
};

// Removes from the plan what the request or the budget leaves out, and notes it. A program that is
// not running yet cannot be counted. `cost`: nothing where it is unknown. `records_waits`: beside
// the probes. `began`: when the helper began to prepare the recording. Errors: those of
// count_calls.
[[nodiscard]] Result<WithinBudget> keep_within_budget(const Request& request,
                                                      const Machine& machine,
                                                      const std::optional<ProbeCost>& cost,
                                                      bool records_waits, const TargetFiles& files,
                                                      const OwnTime& began, ProbePlan& plan,
                                                      std::vector<Note>& notes);

// Returns what to say where no budget held and the program ran much slower: in which function most
// hits were. `plan`: at least what was probed, for `target`. `probes`: with the files, what was.
[[nodiscard]] std::optional<Note> without_budget(const Request& request, const ProbePlan& plan,
                                                 const std::string& target,
                                                 const TargetFiles& files,
                                                 std::span<const Probe> probes,
                                                 const HitCosts& costs, double slowdown);

} // namespace ptlens::record
