// Which thread ran on which CPU when, and when each thread was switched out, from SWITCH and
// SWITCH_CPU_WIDE records. Off-CPU time comes from here for both backends.
#pragma once

#include "perfdata/contents/records.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ptlens::flow {

struct OffCpu {
  std::uint64_t blocked_ns = 0;
  std::uint64_t preempted_ns = 0;
  std::uint32_t switches = 0; // switch-outs in the interval

  [[nodiscard]] std::uint64_t total_ns() const { return blocked_ns + preempted_ns; }
  friend OffCpu operator-(const OffCpu& one, const OffCpu& other) {
    return {.blocked_ns = one.blocked_ns - other.blocked_ns,
            .preempted_ns = one.preempted_ns - other.preempted_ns,
            .switches = one.switches - other.switches};
  }
};

struct OffCpuInterval { // switched out in [begin, end)
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool preempted = false;
  OffCpu before = {}; // sums over the earlier intervals of the thread
};

// Sums of one thread's time off-CPU. Quick where questions come in order of time.
class OffCpuClock {
public:
  // The intervals must outlive the clock; in order, without overlaps.
  explicit OffCpuClock(std::span<const OffCpuInterval> intervals = {}) : intervals_(intervals) {
    find(0);
  }

  // Of the whole recording up to `time_ns`.
  [[nodiscard]] OffCpu before(std::uint64_t time_ns) {
    if (time_ns < from_ || time_ns > to_) [[unlikely]] {
      return find(time_ns);
    }
    return sum_;
  }

private:
  OffCpu find(std::uint64_t time_ns);

  std::span<const OffCpuInterval> intervals_;
  std::uint64_t from_ = 0; // the thread was on a CPU in [from_, to_]
  std::uint64_t to_ = 0;
  OffCpu sum_; // before that
};

struct Running {
  std::int32_t pid = -1;
  std::int32_t tid = -1;
};

class ContextSwitches {
public:
  // Records in order of time. A thread that runs another program now runs: one that took over its
  // process's id with execve comes to it without a switch record.
  explicit ContextSwitches(std::span<const perfdata::Switch> switches,
                           std::span<const perfdata::ThreadName> names = {});

  // False when the recording has no switch record at all: off-CPU is then unknown, not 0.
  [[nodiscard]] bool known() const;

  // How long the thread was switched out within [begin, end), ns. O(log n).
  [[nodiscard]] OffCpu off_cpu(std::int32_t tid, std::uint64_t begin_ns,
                               std::uint64_t end_ns) const;
  // The same for many questions. The context_switches must outlive the clock.
  [[nodiscard]] OffCpuClock off_cpu_clock(std::int32_t tid) const;

  // The thread that ran on the CPU at that time, tid 0 where it was idle. Where only the recorded
  // threads have records, the next one switched in when none of them ran: nobody else is traced.
  // {-1, -1} where the records do not say.
  [[nodiscard]] Running running(std::int32_t cpu, std::uint64_t time_ns) const;

private:
  struct Slot { // a CPU is the thread's from `begin` to the next slot's begin
    std::uint64_t begin = 0;
    Running thread;
  };

  void take_over(const perfdata::ThreadName& name);

  std::map<std::int32_t, std::vector<OffCpuInterval>> off_; // by tid
  std::map<std::int32_t, std::vector<Slot>> slots_;         // by cpu
  bool known_ = false;
};

} // namespace ptlens::flow
