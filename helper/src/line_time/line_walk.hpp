// One thread's branches to the time and the executions of source lines. CallsNeeded no stack: the
// code of a function runs where its addresses do, and what it calls runs elsewhere.
//
// A line is executed once in each stretch of straight code that has instructions of it. Not again
// where control comes back to it from a call, the kernel or a signal, and not where a jump onward
// leads from one part of it to another; but again where a jump leads back, as in a loop on one
// line.
#pragma once

#include "flow/switches/context_switches.hpp"
#include "line_time/possible_times.hpp"
#include "line_time/timed_lines.hpp"
#include "stacks/threads/thread_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::stacks {

class LineWalk final : public ThreadCalls {
public:
  // The references must outlive the object.
  LineWalk(TimedLines& lines, const flow::ContextSwitches& context_switches, std::int32_t tid)
      : lines_(&lines), times_(lines.sets(), lines.times, context_switches.off_cpu_clock(tid)) {}

  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

private:
  // What of the stretch that begins has been executed before it.
  struct Begun {
    enum class What : std::uint8_t {
      nothing,
      first_line, // if it begins with `line`
      line,
      unseen, // the line that it begins with: its execution began where nothing was traced
    };
    What what = What::nothing;
    std::uint32_t line = TimedLines::no_line;
  };
  struct Suspended { // control left the code for the kernel, and goes on at the address
    std::uint64_t address = 0;
    Begun begun;
  };
  static constexpr std::size_t most_suspended = 64;

  void count(const Stretch& stretch);
  void leave(const flow::Branch& branch, const Stretch* stretch);
  [[nodiscard]] Begun arrive(const flow::Branch& branch, const Stretch* stretch);
  [[nodiscard]] Begun resume(std::uint64_t address);

  TimedLines* lines_;
  PossibleTimes times_;
  TimedLines::View* view_ = nullptr;
  std::uint64_t space_serial_ = UINT64_MAX;
  std::uint64_t position_ = 0; // where straight code began, 0: not known
  Begun begun_;
  std::vector<Suspended> suspended_;
};

} // namespace ptlens::stacks
