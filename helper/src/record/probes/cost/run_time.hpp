// How much of a time a program could run: /proc/PID/task/TID/schedstat, whose fields are described
// in Documentation/scheduler/sched-stats.rst. Where other programs want the same CPUs, a thread
// that never sleeps runs only part of the time, and what probes cost must be compared with that
// part.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace ptlens::record {

struct ThreadTime {
  double ran_ns = 0;
  double waited_ns = 0; // ready to run, while its CPU ran something else
  double turns = 0;     // on a CPU
};

using ThreadTimes = std::unordered_map<std::int32_t, ThreadTime>; // by thread

// Returns nothing for text that does not begin with three numbers.
[[nodiscard]] std::optional<ThreadTime> parse_schedstat(std::string_view text);

// Returns the times so far of all threads of a process; of none where it does not exist. `pid`: of
// the process, or of one of its threads.
[[nodiscard]] ThreadTimes run_times_of(std::int32_t pid);

// What the threads of a program did in a time.
class RunTime {
public:
  // Adds a time between two readings of run_times_of().
  void add(double ns, const ThreadTimes& before, const ThreadTimes& after);

  // Returns the time in which the thread ran or slept. All of the time for an unknown thread.
  [[nodiscard]] double of_thread(std::int32_t tid) const;
  // Returns the CPU time of all threads; for a program that mostly sleeps the time in which none of
  // its threads waited for a CPU, if that is more.
  [[nodiscard]] double of_program() const;
  [[nodiscard]] double whole_ns() const { return whole_ns_; }
  // Returns how often a thread got a CPU.
  [[nodiscard]] double turns() const;

private:
  double whole_ns_ = 0;
  ThreadTimes threads_;
};

} // namespace ptlens::record
