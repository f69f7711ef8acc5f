// A call as it is handed on when it closes, and the interface that takes it: from here calls go to
// storage. Each thread has a sink of its own.
#pragma once

#include "base/interface.hpp"
#include "stacks/calls/call.hpp"

#include <cstdint>
#include <span>

namespace ptlens::stacks {

struct ClosedCall {
  FunctionId function = FunctionId::none;
  FunctionId caller = FunctionId::none; // function of the call it was made in, none for a root
  SiteId site = SiteId::none;           // none where unknown
  CallId order{};                       // number of the call in the order of opening, by thread
  CallId parent = CallId::none;         // the call it was made in, none for a root
  std::uint32_t uncertainty = 0;        // of the latency, ± ns
  std::uint32_t switches = 0;           // switch-outs during the call
  CallState state = CallState::incomplete;
  bool tail_call = false; // entered by a jump
  bool inner = false;     // inside another activation of the same function
  // The call was opened after calls inside it, and maybe after some of these closed: a caller that
  // became known when control returned to it. Its order is higher than theirs, and calls of its
  // function among them are not marked as inner.
  bool late = false;
  // An unwound call whose end was not seen: `latency` is a lower bound, the time of its calls
  // alone, and it ended no later than `latency` + `uncertainty`.
  bool end_unknown = false;
  std::uint64_t start = 0;     // ns, perf's clock
  std::uint64_t latency = 0;   // ns, without the time of probes
  std::uint64_t removed = 0;   // ns that probes took inside the call; the wall time has it too
  std::uint64_t children = 0;  // ns of latency spent in children
  std::uint64_t outside = 0;   // ns with tracing off: outside user code, off-CPU included
  std::uint64_t blocked = 0;   // ns off-CPU, not runnable
  std::uint64_t preempted = 0; // ns off-CPU, runnable
};

class CallSink : public Interface {
public:
  // Takes a call that has closed. A late call, or a call that contains one, comes after all calls
  // inside it.
  virtual void take(const ClosedCall& call) = 0;
  // Takes several calls, in the order in which they closed.
  virtual void take_all(std::span<const ClosedCall> calls) {
    for (const ClosedCall& call : calls) {
      take(call);
    }
  }
};

} // namespace ptlens::stacks
