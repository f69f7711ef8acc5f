// One thread under ptrace(2): started or attached to, stepped instruction by instruction. Threads
// and processes that it makes are let go at once and run untraced.
#pragma once

#include "base/error.hpp"
#include "signals.hpp"

#include <cstdint>
#include <functional>
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
};

enum class StepKind : std::uint8_t {
  executed,        // the instruction was executed
  left_kernel,     // a system call is over: the one executed, or one that was under way before
  signalled,       // a signal came before it; it is delivered with the next step
  entered_handler, // the signal's handler is about to run
  replaced,        // execve: another program is about to run
  ended,           // the thread is gone
  interrupted,     // asked to stop while the instruction waited in the kernel
};

class Tracee {
public:
  // The program, stopped before its first instruction. Environment entries "NAME=VALUE" are added.
  static Result<Tracee> launch(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment, Signals& signals);
  // A running thread, stopped.
  static Result<Tracee> attach(pid_t pid, pid_t tid, Signals& signals);

  Tracee(Tracee&& other) noexcept;
  Tracee& operator=(Tracee&&) = delete;
  Tracee(const Tracee&) = delete;
  Tracee& operator=(const Tracee&) = delete;
  ~Tracee(); // lets go

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] pid_t tid() const { return tid_; }

  // One step. Where the instruction may wait in the kernel, `give_up` is asked again and again, and
  // true stops the thread there. Errors: failed.
  Result<StepKind> step(bool may_wait, const std::function<bool()>& give_up);

  // Runs at full speed until control is at the address. False: it ended before, or was given up.
  Result<bool> run_until(std::uint64_t address, const std::function<bool()>& give_up);

  [[nodiscard]] Result<Registers> registers() const;
  void write_word(std::uint64_t address, std::uint64_t value) const;

  // New threads and processes since the last call.
  [[nodiscard]] std::vector<pid_t> take_children();
  // The thread was killed at a stop (an Error of kind gone): waits for its end.
  void await_end();
  // As waitpid(2) has it, once the thread ended.
  [[nodiscard]] std::optional<int> exit_status() const { return exit_status_; }

  // Lets the thread run free. A signal that waits for delivery is delivered.
  void detach();

private:
  Tracee(pid_t pid, pid_t tid, Signals& signals);
  Result<void> seize(bool ours);
  Result<StepKind> resume(int how, bool may_wait, const std::function<bool()>& give_up);
  std::optional<int> wait(bool may_wait, const std::function<bool()>& give_up);
  void let_child_go();
  void stay_on_one_cpu();

  pid_t pid_;
  pid_t tid_;
  Signals* signals_;
  bool attached_ = false;
  bool interrupt_sent_ = false;
  int signal_ = 0; // to deliver with the next step
  std::optional<int> exit_status_;
  std::vector<pid_t> children_;
  std::vector<unsigned long> cpus_before_; // affinity of the thread before it was attached to
};

} // namespace ptlens::ptsim
