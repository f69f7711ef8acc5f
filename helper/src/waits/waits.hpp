// The waits of a recording: each interval in which a thread was off its CPU, with its reason, the
// user's stack that waited, and who ended it. Times are ns of perf's clock.
#pragma once

#include "base/ids.hpp"
#include "stacks/calls/call.hpp"
#include "waits/reason.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::waits {

enum class StackId : std::uint32_t { none = UINT32_MAX };
enum class KernelFunctionId : std::uint32_t { none = UINT32_MAX };

// The thread or interrupt that made the waiting thread runnable again.
struct Waker {
  enum class Kind : std::uint8_t {
    unknown,   // not recorded
    thread,    // with a record
    interrupt, // the record was made in an interrupt
    outside, // only wakings by the recorded threads were recorded: an interrupt or another process
  };
  Kind kind = Kind::unknown;
  Interrupt interrupt = Interrupt::other;
  std::int32_t tid = -1;
  std::int32_t other_pid = -1; // of the thread, if it belongs to another process
  std::uint64_t time_ns = 0;
  StackId stack = StackId::none; // of the waker

  bool operator==(const Waker&) const = default;
};

struct Wait {
  std::int32_t tid = -1;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Reason reason = Reason::unknown;
  bool likely = false;     // the reason is inferred from the function that was called
  bool unfinished = false; // until the end of the recording
  StackId stack = StackId::none;
  KernelFunctionId kernel = KernelFunctionId::none; // where the kernel waited
  Waker waker = {};
  std::int32_t next_tid = -1; // preempted: the thread that got the CPU; -1: unknown

  [[nodiscard]] std::uint64_t duration() const { return end - begin; }
  bool operator==(const Wait&) const = default;
};

// What a stack shows of a wait.
struct WaitPlace {
  stacks::SiteId site =
      stacks::SiteId::none; // in the first function outside the system's libraries
  std::string called = {};  // the function of a system library that it called; empty: none
  LockKind lock = LockKind::none;
};

struct Waits {
  bool recorded = false; // with reasons; false: only the switch records are known
  std::vector<Wait> all; // by thread, then in order of time
  stacks::Functions functions;
  stacks::CallSites sites;
  IdVector<StackId, std::vector<stacks::SiteId>> stacks; // innermost frame first
  IdVector<KernelFunctionId, std::string> kernel_functions;
  std::map<std::int32_t, std::string> thread_names; // by tid
  std::uint64_t without_names = 0; // stacks of the kernel whose functions are not known

  // Returns the waits of the thread, in order of time.
  [[nodiscard]] std::span<const Wait> of_thread(std::int32_t tid) const;
  // Returns those that overlap [begin, end).
  [[nodiscard]] std::span<const Wait> within(std::int32_t tid, std::uint64_t begin,
                                             std::uint64_t end) const;
  [[nodiscard]] WaitPlace place(StackId stack) const;
  [[nodiscard]] const stacks::FunctionInfo* function_of(stacks::SiteId site) const;
  // Returns the name of the thread; "thread 42" where it is not known.
  [[nodiscard]] std::string thread_name(std::int32_t tid) const;
};

// Returns true for the libraries between a program and the kernel: those of C, C++ and threads, the
// dynamic linker and the vdso.
[[nodiscard]] bool is_system_library(std::string_view path);

} // namespace ptlens::waits
