// Turns entries and exits of functions, of one thread, into calls: for programs with a hook at each
// function. A hook knows how many calls are open; frames that were left without an exit (longjmp,
// exec, lost records) follow from that depth.
#pragma once

#include "perfdata/contents/context_switches.hpp"
#include "stacks/threads/open_calls.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::stacks {

// What a hook costs in quick succession, ns: between the times of an entry and its exit, and around
// them.
struct HookCost {
  std::uint32_t inside = 0;
  std::uint32_t around = 0;

  [[nodiscard]] std::uint64_t call() const { return std::uint64_t{inside} + around; }
  // Returns how much time the hooks of a call can have taken in its latency. `pause_ns`: since the
  // thread's previous call of the function, or hook. After the program did other work, the caches
  // contain other things, and a hook takes up to four times as long; and as much again for each
  // tenfold of a longer pause, up to 100 ms.
  [[nodiscard]] std::uint64_t most_inside(std::uint64_t pause_ns = 0) const;
};

struct Hook {
  std::uint64_t time_ns = 0;
  std::uint32_t depth = 0; // calls that are open, without this one
  FunctionId function = FunctionId::none;
  bool entry = false;
  bool part = false;          // the function's own code continues there: no call
  bool returns_twice = false; // setjmp and its like: may exit again
  bool stub = false;          // a call through the PLT: the function itself may have a hook as well
};

class HookedCalls {
public:
  HookedCalls(CallSink& sink, const perfdata::ContextSwitches& context_switches, std::int32_t tid,
              HookCost cost)
      : calls_(sink, context_switches, tid), cost_(cost) {}

  // Takes the next hook in order of time.
  void add(const Hook& hook) {
    if (!started_) {
      started_ = true;
      first_ns_ = hook.time_ns;
    }
    if (hook.entry) {
      enter(hook);
    } else {
      leave(hook);
    }
    last_ns_ = std::max(last_ns_, hook.time_ns);
  }
  // Hooks are missing here: the open calls are incomplete.
  void add_gap();
  // Closes the open calls; `exited`: the thread ended, or its program was replaced.
  void finish(std::uint64_t end_ns, bool exited);

  [[nodiscard]] std::uint64_t gaps() const { return gaps_; }
  [[nodiscard]] std::uint64_t lost_ns() const { return lost_ns_; }
  // Returns the gaps after which the thread went on.
  [[nodiscard]] const std::vector<Gap>& lost() const { return lost_; }

private:
  struct Frame {
    OpenCallId call = OpenCallId::none; // of the caller for a part
    FunctionId function = FunctionId::none;
    std::uint32_t depth = 0;
    std::uint64_t hooks_ns = 0; // in the calls that it made
    bool part = false;
    bool stub = false;          // and has made no call yet
    bool gap = false;           // hooks are missing since it began
    std::uint64_t pause_ns = 0; // since the function's previous call
  };

  void enter(const Hook& hook);
  void leave(const Hook& hook);
  void pop(std::uint64_t time_ns, CallState state);
  std::uint64_t& left_ns(FunctionId function);
  void end_gap(std::uint64_t time_ns);
  [[nodiscard]] OpenCallId innermost() const {
    return stack_.empty() ? OpenCallId::none : stack_.back().call;
  }

  OpenCalls calls_;
  HookCost cost_;
  std::vector<Frame> stack_;
  IdVector<FunctionId, std::uint64_t> left_ns_; // when the thread left each function; 0: never
  bool started_ = false;
  bool in_gap_ = false;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t lost_ns_ = 0;
  std::vector<Gap> lost_;
};

} // namespace ptlens::stacks
