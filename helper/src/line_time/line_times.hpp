// Line time: how often each line of some functions was executed, and how long its own instructions
// took. Time in what it calls, off the CPU and outside of what was traced is not in it.
//
// The trace tells between which two times each branch was, and nothing of what runs in between. So
// a line's time has bounds: what it certainly took, while nothing else can have run, and what it
// can have taken at most. Lines between whose code no time is told share a block.
#pragma once

#include "line_time/timed_lines.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::measure {

// Lines that no time tells apart; line 0 stands for code of the functions at no line of the file.
struct LineBlock {
  std::vector<std::uint32_t> lines; // ascending
  bool others = false;              // nor from code that is not asked about, such as callees
  std::uint64_t time = 0;           // ns, of the block as a whole
};

struct LineTime {
  std::uint32_t line = 0;
  std::uint64_t executions = 0;
  std::uint64_t at_least = 0; // ns, over all executions
  std::uint64_t at_most = 0;
  // Of the blocks that hold nineteen twentieths of the time between both bounds.
  std::vector<std::uint32_t> shared_with = {}; // lines, ascending
  bool shared_with_others = false;

  // Whether the uncertainty is no more than a third of the time.
  [[nodiscard]] bool told() const { return at_most > 0 && at_least >= at_most - at_least; }
  // The middle of what is possible, ns, and half of its width.
  [[nodiscard]] double time() const;
  [[nodiscard]] double uncertainty() const;
};

struct LineTimes {
  bool timed = true;           // false: the trace has no timing packets, there are executions alone
  std::uint64_t cut = 0;       // stretches of the code that a loss cut: neither timed nor counted
  std::vector<LineTime> lines; // that were executed, ascending
  std::vector<LineBlock> blocks; // most time first

  [[nodiscard]] const LineTime* find(std::uint32_t line) const; // null: not executed
};

// After the last branch.
[[nodiscard]] LineTimes line_times(const stacks::TimedLines& walked);

} // namespace ptlens::measure
