// The truth of every call of one thread, from the stepped machine alone: it sees the instruction
// pointer, the stack pointer and the instruction classes, and never a trace packet.
//
// A call instruction pushes a return address and opens a frame. The frame ends complete when
// control is at that return address with the stack pointer just above it, and unwound when a
// transfer of control finds the stack pointer above it for another reason (exception, longjmp) or
// the thread ends. A jump to the entry of another function with the stack as at the entry of the
// current frame is a tail call, also when it is made by a `ret` to what was pushed: a frame of its
// own on the same return address, which ends with the one beneath. Stubs (PLT, the dynamic linker's
// lazy binding, retpolines) are folded: the frame is that of the function that the stub jumps to. A
// call inside one function, not to its entry, has a frame that is not written.
//
// An instruction that loads the stack pointer with an address outside the stretch that the current
// stack has used so far switches to another stack of the thread: to the one that has used that
// address, or to a new one. The frames of the stack that is left stay as they are.
#pragma once

#include "code/instruction.hpp"
#include "code/places.hpp"
#include "code/process.hpp"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace ptlens::ptsim {

struct Moment {
  std::uint64_t ns = 0;         // perf's clock
  std::uint64_t off_cpu_ns = 0; // how long the thread was switched out so far
};

class CallTruth {
public:
  // Lines go to `out` as calls end, and those of calls of functions whose entries the filters let
  // through to `filtered` too (null: none). Nothing is owned.
  CallTruth(std::ostream& out, std::ostream* filtered, Process& process, pid_t tid);

  static void write_header(std::ostream& out, std::uint64_t tsc_hz);

  // execve gave the thread the id of its process.
  void renamed(pid_t tid) { tid_ = tid; }

  // Tracing begins (again) with control at `ip`. The open calls began before. When `ip` is
  // the entry of a function, `stack_top` is its return address.
  void begin(std::uint64_t ip, std::uint64_t stack_pointer, std::uint64_t stack_top, Moment now);

  // The instruction at `ip` was executed; control is now at `next`.
  void retire(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
              std::uint64_t stack_pointer, Moment now);

  // The kernel called the signal handler at `entry`; its return address is on top of the stack.
  void enter_handler(std::uint64_t entry, std::uint64_t return_address, std::uint64_t stack_pointer,
                     std::uint64_t interrupted_stack_pointer, Moment now);
  // rt_sigreturn.
  void leave_handler(Moment now);

  // Tracing ends, because the thread or its program image ended, or while it goes on.
  void finish(bool ended, Moment now);

  [[nodiscard]] std::uint64_t calls() const { return calls_; } // lines written

private:
  enum class Kind : std::uint8_t { root, call, local_call, tail_call, handler, interruption };
  enum class State : std::uint8_t { complete, incomplete, unwound };
  struct Frame {
    Kind kind = Kind::call;
    Place place;
    bool in_stub = false;
    std::uint64_t slot = 0; // stack pointer at entry, where the return address is; 0: not known
    std::uint64_t return_address = 0;
    std::uint64_t caller = 0;
    Moment start;
    std::size_t depth = 0;
    std::uint64_t number = 0;            // of calls that began before
    std::optional<std::uint64_t> parent; // number of the call that it was made in
    std::uint64_t lowest = 0; // interruption: the handler runs on a stack within [lowest, highest)
    std::uint64_t highest = 0;
  };
  struct Stack {
    std::vector<Frame> frames;
    std::uint64_t lowest = 0; // stack pointers seen
    std::uint64_t highest = 0;
    bool fresh = false; // no function has been entered on it
  };

  void open(Kind kind, std::uint64_t entry, std::uint64_t slot, std::uint64_t return_address,
            std::uint64_t caller, Moment now);
  void call(std::uint64_t ip, std::uint64_t return_address, std::uint64_t next,
            std::uint64_t stack_pointer, Moment now);
  void jump(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
            std::uint64_t stack_pointer, Moment now);
  // Control is at `next`, where the current frame does not return to.
  void ret(const Instruction& instruction, std::uint64_t ip, std::uint64_t next,
           std::uint64_t stack_pointer, Moment now);
  [[nodiscard]] bool in_handler(std::uint64_t stack_pointer);
  void switch_stack(std::uint64_t stack_pointer);
  [[nodiscard]] bool begin_stack(std::uint64_t next, std::uint64_t stack_pointer, Moment now);
  bool finish_returned(const Instruction& instruction, std::uint64_t next,
                       std::uint64_t stack_pointer, Moment now);
  void unwind(std::uint64_t stack_pointer, Moment now);
  void close(State state, Moment now); // the top frame

  std::ostream* out_;
  std::ostream* filtered_;
  Process* process_;
  Places* places_;
  pid_t tid_;
  [[nodiscard]] std::vector<Frame>& frames() { return stacks_[current_].frames; }
  void close_all(State state, Moment now); // of the current stack

  std::vector<Stack> stacks_{1};
  std::size_t current_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t calls_ = 0;
};

} // namespace ptlens::ptsim
