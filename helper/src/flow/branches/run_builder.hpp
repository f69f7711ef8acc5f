// Collects one lane's branches into runs and places each in time. The trace tells of decisions
// (conditional branches, indirect transfers, returns, events), and the timing packets around theirs
// bound when each was made. A branch without a decision of its own, such as a direct call, happened
// between the decisions around it. A branch's time is the middle of its interval, with half of the
// width as its uncertainty; nothing finer is invented.
//
// After a loss the interval is wide: processors send no time before they go on. The middle of it
// would make calls that began in it longer than they were, by microseconds. What happened in it is
// placed at its end, with the whole width as uncertainty, so that the time lost is an upper bound.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/branches/run.hpp"
#include "flow/branches/uncertainty_counts.hpp"
#include "flow/context_switches.hpp"
#include "flow/packets/packet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ptlens::flow {

// An interval as branches bear it: its middle, or `not_before` where that comes later.
struct Moment {
  std::uint64_t time_ns = 0;
  std::uint64_t width_ns = 0;
  std::uint32_t uncertainty_ns = 0;

  Moment() = default;
  explicit Moment(TimeInterval interval, std::uint64_t not_before = 0)
      : time_ns(std::max(interval.earliest + (interval.latest - interval.earliest) / 2,
                         std::min(interval.latest, not_before))),
        width_ns(interval.latest - interval.earliest),
        uncertainty_ns(static_cast<std::uint32_t>(std::min<std::uint64_t>(
            std::max(time_ns - interval.earliest, interval.latest - time_ns),
            std::numeric_limits<std::uint32_t>::max()))) {}
};

class RunBuilder {
public:
  explicit RunBuilder(std::int32_t cpu) : cpu_(cpu) {}

  // A decision was made within `interval`; nothing where the trace has no time yet. Intervals never
  // go back: one that would is moved up.
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
  // The last decision, of which no branch was added, was none: the one before was `last`.
  void undo_decision(TimeInterval last) { last_ = last; }

  // Decisions from `earliest` on have the intervals that they are given, and are not moved.
  [[nodiscard]] bool is_plain_from(std::uint64_t earliest) const {
    return !after_loss_ && last_.earliest >= loss_until_ && last_.earliest >= not_before_ &&
           last_.latest <= earliest && open_ == run_.branches.size();
  }
  // While it is so: a branch with its moment, which is as wide as it says.
  void add_plain(const Branch& branch, std::uint64_t width_ns) {
    run_.branches.push_back(branch);
    widths_.add(width_ns);
  }
  // The same, by the calls that came back. Branches between such are told without their width.
  void count_width(std::uint64_t width_ns) { widths_.add(width_ns); }
  [[nodiscard]] std::vector<ReturnedCall>& returned() { return run_.returned; }
  void add_told(const Branch& branch) { run_.branches.push_back(branch); }
  void add_opening(const ReturnedCall& call, const CodePoints& points) {
    tell_opening(call, points, run_.branches);
  }
  void add_part(ReturnedCalls part) {
    part.branches = run_.branches.size();
    run_.returned_parts.push_back(part);
  }
  void forget_held() { holds_ = false; }
  // After the last of them: the last decision.
  void decide_plain(TimeInterval last) {
    last_ = last;
    open_ = run_.branches.size();
  }
  // Of the last decision.
  [[nodiscard]] TimeInterval last() const { return last_; }
  // Of the last decision, and of what lies between it and the one before.
  [[nodiscard]] Moment decided() const { return Moment(last_, not_before_); }
  [[nodiscard]] Moment between(TimeInterval before) const {
    return Moment({before.earliest, last_.latest}, not_before_);
  }

  // A branch of the last decision, and one between it and the next.
  void add_decided(const Branch& branch) {
    close_open(last_.latest);
    if (is_break(branch.kind)) {
      release();
    }
    add_at(branch, decided());
    after_loss_ = after_loss_ || branch.kind == BranchKind::gap;
  }
  void add_between(const Branch& branch) { run_.branches.push_back(branch); }
  // A branch whose moment is known; none may be waiting for the next decision.
  void add_at(const Branch& branch, const Moment& moment) {
    run_.branches.push_back(branch);
    place(run_.branches.back(), moment);
    ++open_;
  }

  // A branch that is told only if a break follows before any other.
  void hold(const Branch& branch, const Moment& moment) {
    held_ = timed(branch, moment.time_ns, moment.uncertainty_ns);
    held_behind_ = run_.branches.size();
    holds_ = true;
  }

  // All before is decoded up to where the PSB+ at this offset of the piece takes effect.
  void mark(std::uint64_t psb_offset) { run_.marks.push_back({run_.branches.size(), psb_offset}); }

  void count_instructions(std::uint64_t instructions) { run_.instructions += instructions; }

  // Enough was added for a run of its own, and none of it waits for a decision.
  [[nodiscard]] bool is_long() const { return has_many() && open_ == run_.branches.size(); }
  [[nodiscard]] bool has_many() const {
    return run_.branches.size() + run_.returned.size() >= most_branches;
  }

  [[nodiscard]] bool has_many_returned() const { return run_.returned.size() >= most_branches; }

  // What was added so far belongs to `owner`; what follows may be another's.
  void break_run(Running owner);
  // What was added so far, which goes on behind: the branch that is held still waits.
  void cut_run(Running owner);
  // The branch that waits for a break, and has been waiting since the last one that was told.
  [[nodiscard]] std::optional<Branch> held() const {
    return holds_ && held_behind_ == run_.branches.size() ? std::optional(held_) : std::nullopt;
  }

  // What follows is in the code of that serial, and bears numbers of that numbering, which stand
  // for those points.
  void set_code(std::uint64_t serial, std::uint32_t numbering, const CodePoints& points,
                Running owner) {
    if (!run_.empty()) {
      cut_run(owner);
    }
    code_ = serial;
    numbering_ = numbering;
    points_ = &points;
  }

  // Runs that are complete, in order.
  [[nodiscard]] std::optional<Run> take();
  [[nodiscard]] bool empty() const { return ready_next_ == ready_.size(); }

  // How wide the intervals of branches were.
  [[nodiscard]] const UncertaintyCounts& widths() const { return widths_; }

private:
  static constexpr std::size_t most_branches = 1024; // and calls that came back

  void place(Branch& branch, const Moment& moment) {
    branch.time_ns = moment.time_ns;
    branch.uncertainty_ns = moment.uncertainty_ns;
    if (branch.kind != BranchKind::gap) {
      widths_.add(moment.width_ns);
    }
  }
  void close_open(std::uint64_t latest) {
    if (open_ != run_.branches.size()) {
      const Moment moment({last_.earliest, std::max(latest, last_.earliest)}, not_before_);
      for (; open_ < run_.branches.size(); ++open_) {
        place(run_.branches[open_], moment);
      }
    }
  }
  void release();
  void hand_out(Running owner);

  std::int32_t cpu_;
  std::uint64_t code_ = 0;
  std::uint32_t numbering_ = 0;
  const CodePoints* points_ = nullptr;
  TimeInterval last_;
  bool after_loss_ = false;      // a gap was added behind the last decision
  std::uint64_t loss_until_ = 0; // end of the first interval behind the last gap
  std::uint64_t not_before_ = 0; // end of the last interval that reaches into that one
  Branch held_;
  std::size_t held_behind_ = 0; // branches of run_
  bool holds_ = false;
  Run run_;
  std::size_t open_ = 0; // branches of run_ from here on wait for the next decision
  std::vector<Run> ready_;
  std::size_t ready_next_ = 0;
  UncertaintyCounts widths_;
};

} // namespace ptlens::flow
