// Line time: the number of executions of each line of some functions, and the time that its own
// instructions took. It does not include time in called functions, off the CPU, or outside the
// traced code.
//
// The trace shows between which two times each branch was executed, and nothing of the code in
// between. So the time of a line has bounds: a lower one, while only this line can have run, and an
// upper one. Lines share a block when no timestamp separates their code.
#pragma once

#include "line_time/timed_lines.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::line_time {

// Lines that no timestamp separates. Line 0 represents code of the functions without a line.
struct LineBlock {
  std::vector<std::uint32_t> lines; // ascending
  bool others = false;              // includes code that is not timed, such as callees
  std::uint64_t time = 0;           // ns, of the whole block
};

struct LineTime {
  std::uint32_t line = 0;
  std::uint64_t executions = 0;
  std::uint64_t at_least = 0; // ns, over all executions
  std::uint64_t at_most = 0;
  // From the blocks that make up nineteen twentieths of the difference between the bounds.
  std::vector<std::uint32_t> shared_with = {}; // lines, ascending
  bool shared_with_others = false;

  // Returns whether the uncertainty is at most a third of the time.
  [[nodiscard]] bool is_known() const { return at_most > 0 && at_least >= at_most - at_least; }
  // Return the middle between the bounds, and half of their distance, in ns.
  [[nodiscard]] double time() const;
  [[nodiscard]] double uncertainty() const;
};

struct LineTimes {
  bool timed = true;           // false: the trace has no timing packets; only executions are known
  std::uint64_t cut = 0;       // stretches that a loss interrupted: neither timed nor counted
  std::vector<LineTime> lines; // those that were executed, ascending
  std::vector<LineBlock> blocks; // most time first

  // Returns null where the line was not executed.
  [[nodiscard]] const LineTime* find(std::uint32_t line) const;
};

// Computes the bounds, after the last branch. `timed`: the trace has timing packets.
[[nodiscard]] LineTimes line_times(const TimedLines& walked, bool timed);

} // namespace ptlens::line_time
