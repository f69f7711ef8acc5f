// Collects the branches of one AUX buffer into runs and gives each branch its time. The trace
// reports decisions (conditional branches, indirect transfers, returns, events), and the timing
// packets around a decision bound the time at which it was made. A branch without a decision of
// its own, such as a direct call, happened between the decisions around it. The time of a branch is
// the middle of its interval, and its uncertainty is half of the interval; nothing finer is
// invented.
//
// After a loss the interval is wide, because processors send no time before they continue. The
// middle of the interval would make calls that began in it longer than they were, by microseconds.
// Branches in this interval get the time of its end, and the whole interval as uncertainty, so that
// the lost time is an upper bound.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/branches/uncertain_time.hpp"
#include "flow/runs/run.hpp"
#include "flow/runs/uncertainty_counts.hpp"
#include "perfdata/contents/context_switches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::flow {

class RunBuilder {
public:
  static constexpr std::size_t most_branches = 1024; // listed and consumed ones together

  explicit RunBuilder(std::int32_t cpu) : cpu_(cpu) {}

  // A decision was made within `interval`, nullopt where the trace has no time yet. Intervals never
  // go back: an interval that would go back is moved up.
  void decide(const std::optional<TimeInterval>& interval) { decide(interval.value_or(last_)); }
  void decide(TimeInterval interval) {
    interval.latest = std::max(interval.latest, last_.latest);
    interval.earliest = std::max(interval.earliest, last_.earliest);
    if (after_loss_) {
      after_loss_ = false;
      loss_until_ = interval.latest;
      not_before_ = interval.latest;
    } else if (last_.earliest < loss_until_) {
      not_before_ = interval.latest;
    }
    close_open(interval.latest);
    last_ = interval;
  }
  // Takes back the last decision, which has no branch; `last` is the one before.
  void undo_decision(TimeInterval last) { last_ = last; }

  // Returns true where decisions from `earliest` on have exactly the intervals that they are given.
  [[nodiscard]] bool is_plain_from(std::uint64_t earliest) const {
    return !after_loss_ && last_.earliest >= loss_until_ && last_.earliest >= not_before_ &&
           last_.latest <= earliest && open_ == run_.branches.size();
  }
  // The following functions are for what takes the branches of a stretch: see BranchConsumer.
  // Adds a branch that has its time already.
  void add_plain(const Branch& branch) { run_.branches.push_back(branch); }
  // Counts the time interval of a branch, listed or consumed.
  void count_interval(std::uint64_t interval_ns) { intervals_.add(interval_ns); }
  // What the consumer of the branches has attached to the run that is being collected.
  [[nodiscard]] std::unique_ptr<ConsumedBranches>& consumed() { return run_.consumed; }
  [[nodiscard]] std::size_t branch_count() const { return run_.branches.size(); }
  [[nodiscard]] std::vector<Branch>& branches() { return run_.branches; }
  void drop_held() { has_held_ = false; }
  // All branches that were added have their times.
  void place_all() { open_ = run_.branches.size(); }
  // Ends a stretch in which is_plain_from() holds; `last` is its last decision.
  void decide_plain(TimeInterval last) {
    last_ = last;
    place_all();
  }

  // Returns the interval of the last decision.
  [[nodiscard]] TimeInterval last() const { return last_; }
  // Returns the time of the last decision.
  [[nodiscard]] UncertainTime decided() const { return UncertainTime(last_, not_before_); }
  // Returns the time before which nothing happens: see UncertainTime.
  [[nodiscard]] std::uint64_t not_before() const { return not_before_; }
  // Returns the time of what happened between the decision `before` and the last one.
  [[nodiscard]] UncertainTime between(TimeInterval before) const {
    return UncertainTime({before.earliest, last_.latest}, not_before_);
  }

  // Adds the branch of the last decision.
  void add_decided(const Branch& branch) {
    close_open(last_.latest);
    if (is_break(branch.kind)) {
      release();
    }
    run_.branches.push_back(branch);
    place(run_.branches.back(), decided());
    ++open_;
    after_loss_ = after_loss_ || branch.kind == BranchKind::gap;
  }
  // Adds a branch between the last decision and the next one.
  void add_between(const Branch& branch) { run_.branches.push_back(branch); }

  // Holds a branch back, which is emitted only if a break follows before any other branch.
  void hold(const Branch& branch, const UncertainTime& time) {
    held_ = timed(branch, time.time_ns, time.uncertainty_ns);
    held_behind_ = run_.branches.size();
    has_held_ = true;
  }

  // Everything before is decoded up to where the PSB+ at this offset of the fragment takes effect.
  void mark(std::uint64_t psb_offset) { run_.marks.push_back({run_.branches.size(), psb_offset}); }

  void count_instructions(std::uint64_t instructions) { run_.instructions += instructions; }

  // Returns true where the run is long enough and none of its branches waits for a decision.
  [[nodiscard]] bool is_long() const { return has_many() && open_ == run_.branches.size(); }
  [[nodiscard]] bool has_many() const {
    const std::size_t consumed = run_.consumed ? run_.consumed->size() : 0;
    return run_.branches.size() + consumed >= most_branches;
  }

  // Ends the run, which belongs to `owner`; the branches that follow may be another thread's.
  void break_run(perfdata::Running owner);
  // Ends the run, which belongs to `owner` and continues behind: the held branch is held further.
  void cut_run(perfdata::Running owner);
  // Returns the branch that is held back, if no branch was emitted since.
  [[nodiscard]] std::optional<Branch> held() const {
    return has_held_ && held_behind_ == run_.branches.size() ? std::optional(held_) : std::nullopt;
  }

  // The branches that follow are in the code of that serial, and their ids are of that numbering
  // and refer to those points.
  void set_code(std::uint64_t serial, std::uint32_t numbering, const CodePoints& points,
                perfdata::Running owner) {
    if (!run_.empty()) {
      cut_run(owner);
    }
    code_ = serial;
    numbering_ = numbering;
    points_ = &points;
  }

  // Returns the next complete run, in order.
  [[nodiscard]] std::optional<Run> take();
  [[nodiscard]] bool empty() const { return ready_next_ == ready_.size(); }

  // The counts of the time intervals of branches.
  [[nodiscard]] const UncertaintyCounts& intervals() const { return intervals_; }

private:
  void place(Branch& branch, const UncertainTime& time) {
    branch.time_ns = time.time_ns;
    branch.uncertainty_ns = time.uncertainty_ns;
    if (branch.kind == BranchKind::gap) {
      intervals_.add_gap(time.interval_ns);
    } else {
      intervals_.add(time.interval_ns);
    }
  }
  void close_open(std::uint64_t latest) {
    if (open_ != run_.branches.size()) {
      const UncertainTime time({last_.earliest, std::max(latest, last_.earliest)}, not_before_);
      for (; open_ < run_.branches.size(); ++open_) {
        place(run_.branches[open_], time);
      }
    }
  }
  void release();
  void hand_out(perfdata::Running owner);

  std::int32_t cpu_;
  std::uint64_t code_ = 0;
  std::uint32_t numbering_ = 0;
  const CodePoints* points_ = nullptr;
  TimeInterval last_;
  bool after_loss_ = false;      // a gap was added after the last decision
  std::uint64_t loss_until_ = 0; // end of the first interval after the last gap
  std::uint64_t not_before_ = 0; // end of the last interval that reaches into that one
  Branch held_;
  std::size_t held_behind_ = 0; // branches of run_ when held_ was held back
  bool has_held_ = false;
  Run run_;
  std::size_t open_ = 0; // branches of run_ from here on wait for the next decision
  std::vector<Run> ready_;
  std::size_t ready_next_ = 0;
  UncertaintyCounts intervals_;
};

} // namespace ptlens::flow
