// One thread under ptrace(2): resumed for one instruction or more, and what stopped it. Never
// waits for a thread that sleeps in the kernel: others must go on meanwhile.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim {

struct Registers {
  std::uint64_t ip = 0;
  std::uint64_t sp = 0;
  std::uint64_t ax = 0;
  std::uint64_t original_ax = 0; // number of the system call, -1 outside of one
  std::uint64_t di = 0;          // the system call's arguments
  std::uint64_t si = 0;
  std::uint64_t dx = 0;
};

enum class StopKind : std::uint8_t {
  executed,    // the instruction was executed
  left_kernel, // a system call ended: the executed one, or an earlier one that was still running
  signalled,   // a signal came before it; it is delivered with the next resumption
  entered_handler, // the signal's handler is about to run
  replaced,        // execve: another program is about to run
  exiting,         // the thread is in exit(2), or was killed; its memory is still there
  ended,           // the thread is gone
};

struct Stop {
  StopKind kind = StopKind::executed;
  pid_t former = -1; // replaced: the thread's id before
};

// Affinity of a thread, for sched_setaffinity; empty: not known.
using CpuSet = std::vector<unsigned long>;

class Tracee {
public:
  // Attaches to a running thread and stops it. `options` are PTRACE_O_. Errors: gone, no_rights,
  // failed.
  static Result<Tracee> attach(pid_t tid, std::uint64_t options);
  // A thread that a traced one made, attached already: waits for its first stop.
  static Tracee adopt(pid_t tid, const CpuSet& cpus);
  // Attaches to a thread that is not stopped by it (a program about to begin).
  static Result<Tracee> seize(pid_t tid, std::uint64_t options);

  Tracee(Tracee&& other) noexcept;
  Tracee& operator=(Tracee&&) = delete;
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;
  ~Tracee(); // lets go

  [[nodiscard]] pid_t tid() const { return tid_; }

  // Resumes the stopped thread; a signal that waits for delivery is delivered. Errors: failed.
  Result<void> step();
  Result<void> run();

  // What stopped the thread since it was resumed; nothing while it runs or sleeps.
  std::optional<Stop> poll();
  // Waits until it stops, or is found asleep in the kernel (or stopped by job control): nothing.
  std::optional<Stop> settle();
  // As settle(), of a thread that was asleep: cheap while it still is.
  std::optional<Stop> woken();
  // Waits for a stop that must come soon; nothing where job control stopped the thread instead.
  std::optional<Stop> wait();
  // Has a thread that runs or sleeps stop as soon as it can; the stop may be another.
  void interrupt();
  // Waits for the stop that interrupt() asked for; false where the thread ended.
  bool wait_interrupted();

  [[nodiscard]] Result<Registers> registers() const;
  void write_word(std::uint64_t address, std::uint64_t value) const;
  // One breakpoint in the debug registers; 0: none.
  Result<void> break_at(std::uint64_t address) const;

  // New threads and processes since the last call, each stopped and to be adopted or let go.
  [[nodiscard]] std::vector<pid_t> take_children();
  [[nodiscard]] const CpuSet& cpus() const { return cpus_before_; }

  // After `exiting`: lets the thread end, and waits until it is gone or, the last of its process to
  // be waited for, a zombie.
  void let_end();
  [[nodiscard]] bool is_gone() const { return state_ == State::gone; }
  // As waitpid(2) has it, once the thread is gone.
  [[nodiscard]] std::optional<int> exit_status() const { return exit_status_; }

  // Lets the thread run free. A signal that waits for delivery is delivered.
  void detach();

private:
  enum class State : std::uint8_t { stopped, resumed, listening, gone };

  explicit Tracee(pid_t tid) : tid_(tid) {}
  Result<void> resume(int how);
  std::optional<Stop> interpret(int status);
  [[nodiscard]] Stop trapped();
  [[nodiscard]] bool in_system_call() const;
  std::optional<int> take_status(bool wait);
  [[nodiscard]] char kernel_state() const;
  [[nodiscard]] bool trap_is_pending() const;
  void stay_on_one_cpu();
  void child_made();

  pid_t tid_;
  State state_ = State::stopped;
  int how_ = 0; // the request that resumed it
  bool interrupting_ = false;
  bool ending_ = false;
  bool delivering_ = false; // resumed with a signal: its handler may begin
  bool replaced_ = false;
  pid_t former_ = -1;
  int signal_ = 0; // to deliver with the next resumption
  std::optional<int> exit_status_;
  std::optional<int> kept_status_; // waited for too early
  std::vector<pid_t> children_;
  CpuSet cpus_before_; // affinity of the thread before it was attached to
};

// Lets a new thread of a traced one run free, on the given CPUs.
void let_child_go(pid_t child, const CpuSet& cpus);

// PTRACE_O_ flags: the thread's children are traced from their first instruction.
[[nodiscard]] std::uint64_t trace_options(bool started_by_us);

} // namespace ptlens::ptsim
