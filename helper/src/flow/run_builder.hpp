// Collects one lane's branches into runs and places each in time. The trace tells of decisions
// (conditional branches, indirect transfers, returns, events), and the timing packets around theirs
// bound when each was made. A branch without a decision of its own, such as a direct call, happened
// between the decisions around it. A branch's time is the middle of its interval, with half of the
// width as its uncertainty; nothing finer is invented.
#pragma once

#include "flow/branch.hpp"
#include "flow/packet.hpp"
#include "flow/schedule.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ptlens::flow {

class RunBuilder {
public:
  explicit RunBuilder(std::int32_t cpu) : cpu_(cpu) {}

  // A decision was made within `interval`; nothing where the trace has no time yet. Intervals never
  // go back: one that would is moved up.
  void decide(const std::optional<TimeInterval>& interval) {
    if (interval) {
      decide(*interval);
    } else {
      close_open(last_.latest);
    }
  }
  void decide(TimeInterval interval);

  // A branch of the last decision, and one between it and the next.
  void add_decided(const Branch& branch);
  void add_between(const Branch& branch);

  // All before is decoded up to where the PSB+ at this offset of the piece takes effect.
  void mark(std::uint64_t psb_offset) { run_.marks.push_back({run_.branches.size(), psb_offset}); }

  void count_instructions(std::uint64_t instructions) { run_.instructions += instructions; }

  // Enough was added for a run of its own, and none of it waits for a decision.
  [[nodiscard]] bool is_long() const;

  // What was added so far belongs to `owner`; what follows may be another's.
  void break_run(Running owner);

  // Runs that are complete, in order.
  [[nodiscard]] std::optional<Run> take();
  [[nodiscard]] bool empty() const { return ready_next_ == ready_.size(); }

  // Widths of the intervals of branches, ns: of the first 2^20.
  [[nodiscard]] const std::vector<std::uint64_t>& widths() const { return widths_; }

private:
  void place(Branch& branch, TimeInterval interval);
  void close_open(std::uint64_t latest);

  std::int32_t cpu_;
  TimeInterval last_;
  Run run_;
  std::size_t open_ = 0; // branches of run_ from here on wait for the next decision
  std::vector<Run> ready_;
  std::size_t ready_next_ = 0;
  std::vector<std::uint64_t> widths_;
};

} // namespace ptlens::flow
