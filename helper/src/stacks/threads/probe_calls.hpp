// One thread's probe hits to calls: the uprobe backend's half of stack building. The stack pointer
// at each hit says which frames are still alive: a frame whose return-address slot lies below it is
// gone.
#pragma once

#include "flow/context_switches.hpp"
#include "stacks/calls/open_calls.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::stacks {

struct ProbeHit {
  std::uint64_t time_ns = 0;
  std::uint64_t stack_pointer = 0;  // at the first instruction, or at the one that leaves
  std::uint32_t function = no_call; // index into functions
  std::uint32_t site = no_site;     // of the call; of the jump for a tail exit
  std::uint64_t return_address = 0; // entry only
  bool entry = false;
  bool tail_exit = false;              // leaves by a jump out of the function
  std::uint32_t tail_target = no_call; // function that the jump goes to, no_call where unknown
};

class ProbeCalls {
public:
  ProbeCalls(CallSink& sink, const flow::ContextSwitches& context_switches, std::int32_t tid)
      : log_(sink, context_switches, tid) {}

  // Hits in order of time.
  void add(const ProbeHit& hit);
  // Closes what is open: `exited` because the thread ended.
  void finish(std::uint64_t end_ns, bool exited);

private:
  struct Frame {
    std::uint32_t call = no_call;
    std::uint32_t function = no_call;
    std::uint64_t stack_pointer = 0;
    std::uint64_t return_address = 0;
    bool tail = false;
    bool left = false; // by a jump: ends with the tail callee
    std::uint32_t left_to = no_call;
    std::uint32_t left_site = no_site;
    std::uint64_t left_ns = 0;
  };

  void enter(const ProbeHit& hit);
  void leave(const ProbeHit& hit);
  void pop(std::uint64_t time_ns, CallState state);
  // The entry is where the frame's last jump went.
  [[nodiscard]] static bool follows(const ProbeHit& entry, const Frame& frame);
  void drop_dead(std::uint64_t stack_pointer, std::uint64_t time_ns);

  OpenCalls log_;
  std::vector<Frame> stack_;
  bool started_ = false;
  std::uint64_t first_ns_ = 0;
};

} // namespace ptlens::stacks
