// Collects one lane's branches into runs and places each in time. The trace tells of decisions
// (conditional branches, indirect transfers, returns, events), and the timing packets around theirs
// bound when each was made. A branch without a decision of its own, such as a direct call, happened
// between the decisions around it. A branch's time is the middle of its interval, with half of the
// width as its uncertainty; nothing finer is invented.
#pragma once

#include "flow/branch.hpp"
#include "flow/packet.hpp"
#include "flow/schedule.hpp"
#include "flow/width_counts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ptlens::flow {

// An interval as branches bear it.
struct Moment {
  std::uint64_t time_ns = 0;
  std::uint64_t width_ns = 0;

  explicit Moment(TimeInterval interval)
      : time_ns(interval.earliest + (interval.latest - interval.earliest) / 2),
        width_ns(interval.latest - interval.earliest) {}

  [[nodiscard]] std::uint32_t spread_ns() const {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>((width_ns + 1) / 2, std::numeric_limits<std::uint32_t>::max()));
  }
};

class RunBuilder {
public:
  explicit RunBuilder(std::int32_t cpu) : cpu_(cpu) { run_.branches.reserve(most_branches); }

  // A decision was made within `interval`; nothing where the trace has no time yet. Intervals never
  // go back: one that would is moved up.
  void decide(const std::optional<TimeInterval>& interval) { decide(interval.value_or(last_)); }
  void decide(TimeInterval interval) {
    interval.latest = std::max(interval.latest, last_.latest);
    interval.earliest = std::max(interval.earliest, last_.earliest);
    close_open(interval.latest);
    last_ = interval;
  }
  // The last decision, of which no branch was added, was none: the one before was `last`.
  void undo_decision(TimeInterval last) { last_ = last; }
  // Of the last decision.
  [[nodiscard]] TimeInterval last() const { return last_; }

  // A branch of the last decision, and one between it and the next.
  void add_decided(const Branch& branch) {
    close_open(last_.latest);
    if (is_break(branch.kind)) {
      release();
    }
    add_at(branch, Moment(last_));
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
    held_ = branch;
    held_.time_ns = moment.time_ns;
    held_.spread_ns = moment.spread_ns();
    held_behind_ = run_.branches.size();
    holds_ = true;
  }

  // All before is decoded up to where the PSB+ at this offset of the piece takes effect.
  void mark(std::uint64_t psb_offset) { run_.marks.push_back({run_.branches.size(), psb_offset}); }

  void count_instructions(std::uint64_t instructions) { run_.instructions += instructions; }

  // Enough was added for a run of its own, and none of it waits for a decision.
  [[nodiscard]] bool is_long() const {
    return run_.branches.size() >= most_branches && open_ == run_.branches.size();
  }

  // What was added so far belongs to `owner`; what follows may be another's.
  void break_run(Running owner);

  // Runs that are complete, in order.
  [[nodiscard]] std::optional<Run> take();
  [[nodiscard]] bool empty() const { return ready_next_ == ready_.size(); }

  // How wide the intervals of branches were.
  [[nodiscard]] const WidthCounts& widths() const { return widths_; }

private:
  static constexpr std::size_t most_branches = 8192;

  static bool is_break(BranchKind kind) {
    return kind == BranchKind::on || kind == BranchKind::off || kind == BranchKind::gap ||
           kind == BranchKind::syscall || kind == BranchKind::interrupt;
  }
  void place(Branch& branch, const Moment& moment) {
    branch.time_ns = moment.time_ns;
    branch.spread_ns = moment.spread_ns();
    if (branch.kind != BranchKind::gap) {
      widths_.add(moment.width_ns);
    }
  }
  void close_open(std::uint64_t latest) {
    if (open_ != run_.branches.size()) {
      const Moment moment({last_.earliest, std::max(latest, last_.earliest)});
      for (; open_ < run_.branches.size(); ++open_) {
        place(run_.branches[open_], moment);
      }
    }
  }
  void release();

  std::int32_t cpu_;
  TimeInterval last_;
  Branch held_;
  std::size_t held_behind_ = 0; // branches of run_
  bool holds_ = false;
  Run run_;
  std::size_t open_ = 0; // branches of run_ from here on wait for the next decision
  std::vector<Run> ready_;
  std::size_t ready_next_ = 0;
  WidthCounts widths_;
};

} // namespace ptlens::flow
