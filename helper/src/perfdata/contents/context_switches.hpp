// Determines which thread ran on which CPU, and when each thread was switched out, from SWITCH and
// SWITCH_CPU_WIDE records. This is the source of off-CPU time for both backends.
#pragma once

#include "perfdata/contents/records.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ptlens::perfdata {

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

// Sums up the time off-CPU of one thread. It is fast where the queries are in order of time.
class OffCpuClock {
public:
  // The intervals are in order, do not overlap, and must outlive the clock.
  explicit OffCpuClock(std::span<const OffCpuInterval> intervals = {}) : intervals_(intervals) {
    find(0);
  }

  // Returns the sums from the begin of the recording up to `time_ns`.
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

  bool operator==(const Running&) const = default;
};

class ContextSwitches {
public:
  // Takes records in order of time. A record that names a program shows that its thread runs: a
  // thread that gets the id of its process by execve has no switch record.
  // `recorded`: a thread without a record was never switched out.
  explicit ContextSwitches(std::span<const Switch> switches, std::span<const ThreadName> names = {},
                           bool recorded = false);

  // Returns false where switches were not recorded: off-CPU time is then unknown, not 0.
  [[nodiscard]] bool known() const;

  // Returns how long the thread was switched out within [begin, end), ns. O(log n).
  [[nodiscard]] OffCpu off_cpu(std::int32_t tid, std::uint64_t begin_ns,
                               std::uint64_t end_ns) const;
  // Returns a clock for many such queries. The object must outlive the clock.
  [[nodiscard]] OffCpuClock off_cpu_clock(std::int32_t tid) const;

  // Returns the times in which the thread was switched out, in order.
  [[nodiscard]] std::span<const OffCpuInterval> intervals(std::int32_t tid) const;
  // Returns the threads that were switched out, ascending.
  [[nodiscard]] std::vector<std::int32_t> threads() const;

  // Returns the thread that ran on the CPU at that time; tid 0 where the CPU was idle. If only the
  // recorded threads have records and none of them ran, returns the next one that was switched in,
  // because no other thread is traced. Returns {-1, -1} where the records do not show it.
  [[nodiscard]] Running running(std::int32_t cpu, std::uint64_t time_ns) const;

  // Returns the time in ns before which the thread that runs on the CPU at `time_ns` does not leave
  // it; 0 where the records do not show it.
  [[nodiscard]] std::uint64_t running_until(std::int32_t cpu, std::uint64_t time_ns) const;

  // Returns each thread that ran on the CPU, once.
  [[nodiscard]] std::vector<Running> threads_on(std::int32_t cpu) const;
  // Returns the time in ns before which running() names the same threads for the CPU as in `other`,
  // which was made from more records.
  [[nodiscard]] std::uint64_t agrees_before(const ContextSwitches& other, std::int32_t cpu) const;

private:
  struct Slot { // the thread ran from `begin` to the begin of the next slot
    std::uint64_t begin = 0;
    Running thread;

    bool operator==(const Slot&) const = default;
  };

  void take_over(const ThreadName& name);

  std::map<std::int32_t, std::vector<OffCpuInterval>> off_; // by tid
  std::map<std::int32_t, std::vector<Slot>> slots_;         // by cpu
  bool known_ = false;
};

} // namespace ptlens::perfdata
