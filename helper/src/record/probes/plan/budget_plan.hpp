// Chooses what is probed, so that the program loses no more of its time than the budget.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ptlens::record {

struct Candidate {
  std::string name = {};
  bool target = false;  // requested, or calls of a requested function end in it
  bool forced = false;  // the user asked for it
  bool tail = false;    // calls of other chosen functions end in it
  double calls_a_s = 0; // of the whole program
  double cost_ns = 0;   // of the hits of one call
};

struct BudgetPlan {
  std::vector<bool> chosen; // by candidate
  double share = 0;         // of the program's time that the chosen probes take while they are set
  double duty = 1;          // share of the recording in which they may be set; 1: always
};

// Returns the share to plan for, given a budget: a part is left for counting calls, for setting
// and removing probes, for the helper's own CPU time, and for the moment in which too many calls
// are measured. On two busy CPUs these took 1 to 2 % of the program's time.
[[nodiscard]] constexpr double planned_share(double budget) {
  constexpr double planned_part = 0.6;
  return budget < 1 ? planned_part * budget : budget;
}

// `budget`: 0 to 1; 1 and more: no limit. `cpus`: that the program can use; of a CPU that it shares
// with others, its part. Targets and forced callees are always chosen; then the functions that
// calls end in, and the other callees follow, each from the cheapest while the budget lasts.
[[nodiscard]] BudgetPlan plan_within(std::span<const Candidate> candidates, double budget,
                                     double cpus);

} // namespace ptlens::record
