// A thread for work beside a measured program: it runs only while a processor has nothing else to
// do (SCHED_IDLE, sched(7)), so that it does not slow the program.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace ptlens {

class IdleThread {
public:
  // Starts the work. It must own what it uses: where it cannot be waited for, it outlives the
  // object.
  explicit IdleThread(std::function<void()> work);
  IdleThread(const IdleThread&) = delete;
  IdleThread& operator=(const IdleThread&) = delete;
  IdleThread(IdleThread&&) = delete;
  IdleThread& operator=(IdleThread&&) = delete;
  ~IdleThread(); // leaves the work to itself

  // Gives the thread the priority of others and waits for the end of the work. Without the right to
  // do so (RLIMIT_NICE), busy processors may keep the thread from running: it then waits for
  // `longest` at most. Returns whether the work has ended.
  bool finish(std::chrono::milliseconds longest);

  // Returns the CPU time that the work has taken so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

// The priority counts among the programs of one control group or session. Where the thread has to
// share a processor with another one, its work sleeps most of the time.
class Pace {
public:
  Pace(); // on the thread
  // To be called on the thread, between parts of the work. Sleeps where another program ran instead
  // of the thread since the last call; no longer than until `stopped`.
  void give_way(const std::atomic<bool>& stopped);

private:
  std::chrono::steady_clock::time_point last_;
  std::chrono::nanoseconds last_cpu_time_;
};

} // namespace ptlens
