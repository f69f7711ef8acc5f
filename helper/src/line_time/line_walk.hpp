// Computes the time and the executions of source lines from the branches of one thread. It needs no
// call stack: addresses show which function's own code runs.
//
// Each stretch of straight code executes its lines once. A line is not executed again where control
// returns to it from a call, the kernel or a signal, nor where a forward jump leads from one part
// of it to another. It is executed again where a jump leads backward, as in a loop on one line.
#pragma once

#include "line_time/possible_times.hpp"
#include "line_time/timed_lines.hpp"
#include "perfdata/contents/context_switches.hpp"
#include "stacks/threads/thread_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::line_time {

class LineWalk final : public stacks::ThreadCalls {
public:
  // The references must outlive the object.
  LineWalk(TimedLines& lines, const perfdata::ContextSwitches& context_switches, std::int32_t tid)
      : lines_(&lines), times_(lines.sets(), lines.times, context_switches.off_cpu_clock(tid)) {}

  void add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) override;
  void exec(std::uint64_t time_ns) override;
  void finish(bool exited) override;

private:
  // The lines of a new stretch whose execution began before it.
  struct Begun {
    enum class What : std::uint8_t {
      nothing,
      first_line, // `line`, if the stretch begins with it
      line,       // `line`
      unseen,     // its first line, whose execution began while nothing was traced
    };
    What what = What::nothing;
    std::uint32_t line = TimedLines::no_line;
  };
  struct Suspended { // control left for the kernel and will continue at the address
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
  std::uint64_t position_ = 0; // the start of the present stretch, 0: not known
  Begun begun_;
  std::vector<Suspended> suspended_;
};

} // namespace ptlens::line_time
