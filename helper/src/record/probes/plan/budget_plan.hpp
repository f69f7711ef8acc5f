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
  double calls_a_s = 0; // of the whole program while nothing is measured
  double cost_ns = 0;   // of the hits of one call
};

struct BudgetPlan {
  std::vector<bool> chosen; // by candidate
  double cost = 0; // of the chosen probes while they are set, per time of the program without them
  double duty = 1; // share of the recording in which they may be set; 1: always
};

// Shares of the program's time.
class ProbeBudget {
public:
  // `own`: what the helper's own work takes, whatever is recorded.
  explicit ProbeBudget(double whole = 1, double own = 0) : whole_(whole), own_(own) {}

  [[nodiscard]] bool is_limited() const { return whole_ < 1; }
  [[nodiscard]] double whole() const { return whole_; }
  // Returns what hits and waits may take before less is measured.
  [[nodiscard]] double most() const;
  // Returns what hits and waits are planned to take. The rest is left for setting and removing
  // probes, for reading the hits, for calls that become more frequent, and for hits that take
  // longer in a program whose code and data fill the caches.
  [[nodiscard]] double planned() const;

private:
  double whole_;
  double own_;
};

// What probes cost, per time of the program without them, as a share of its time with them.
[[nodiscard]] constexpr double share_of_cost(double cost) {
  return cost / (1 + cost);
}

// `budget`: 0 to 1; 1 and more: no limit. `cpus`: that the program can use; of a CPU that it shares
// with others, its part. `other_cost`: of what else is recorded while the probes are set. Targets
// and forced callees are always chosen; then the functions that calls end in, and the other callees
// follow, each from the cheapest while the budget lasts, or while it costs next to nothing.
[[nodiscard]] BudgetPlan plan_within(std::span<const Candidate> candidates, double budget,
                                     double cpus, double other_cost = 0);

} // namespace ptlens::record
