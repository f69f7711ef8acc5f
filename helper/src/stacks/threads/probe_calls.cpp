// Matches entry and exit hits by the stack pointer, which is the same at the entry of a function
// and at each of its exits (System V ABI: it points to the return address).
#include "stacks/threads/probe_calls.hpp"

#include <utility>

namespace ptlens::stacks {

void ProbeCalls::add(const ProbeHit& hit) {
  if (!started_) {
    started_ = true;
    first_ns_ = hit.time_ns;
  }
  if (hit.restart) {
    drop_dead(hit.stack_pointer, hit.time_ns);
    if (is_in(hit)) {
      stack_.back().restarts = true;
    }
  } else if (hit.entry) {
    enter(hit);
  } else {
    leave(hit);
  }
}

void ProbeCalls::begin_stack(std::uint64_t time_ns) {
  started_ = true;
  first_ns_ = time_ns;
}

void ProbeCalls::unwind(std::uint64_t time_ns) {
  while (!stack_.empty()) {
    pop(time_ns, CallState::unwound);
  }
}

bool ProbeCalls::is_in(const ProbeHit& hit) const {
  return !stack_.empty() && stack_.back().stack_pointer == hit.stack_pointer &&
         stack_.back().function == hit.function;
}

void ProbeCalls::pop(std::uint64_t time_ns, CallState state) {
  const Frame& frame = stack_.back();
  if (frame.left) {
    // Left by a jump to a function without a probe: the time of its return is unknown.
    calls_.close(frame.call, frame.left_ns, CallState::incomplete);
  } else {
    calls_.close(frame.call, time_ns, state);
  }
  stack_.pop_back();
}

// Ends the frames below the stack pointer, which had no exit: an exception or longjmp ended them.
void ProbeCalls::drop_dead(std::uint64_t stack_pointer, std::uint64_t time_ns) {
  while (!stack_.empty() && stack_.back().stack_pointer < stack_pointer) {
    pop(time_ns, CallState::unwound);
  }
}

bool ProbeCalls::follows(const ProbeHit& entry, const Frame& frame) {
  if (!frame.left || entry.return_address != frame.return_address) {
    return false;
  }
  return frame.left_to == FunctionId::none ? frame.function != entry.function
                                           : frame.left_to == entry.function;
}

void ProbeCalls::enter(const ProbeHit& hit) {
  drop_dead(hit.stack_pointer, hit.time_ns);
  if (is_in(hit) && std::exchange(stack_.back().restarts, false)) {
    return;
  }
  bool tail = false;
  SiteId site = hit.site;
  while (!stack_.empty() && stack_.back().stack_pointer == hit.stack_pointer) {
    // The same stack slot: a tail call if the last frame left by a jump to here; else that frame
    // has ended.
    if (stack_.back().returns) {
      tail = true; // it has not returned yet
      break;
    }
    if (follows(hit, stack_.back())) {
      tail = true;
      site = stack_.back().left_site;
      break;
    }
    pop(hit.time_ns, CallState::unwound);
  }
  const OpenCallId parent = stack_.empty() ? OpenCallId::none : stack_.back().call;
  Frame frame;
  frame.call = calls_.open(hit.function, parent, site, hit.time_ns, tail);
  frame.function = hit.function;
  frame.stack_pointer = hit.stack_pointer;
  frame.return_address = hit.return_address;
  frame.tail = tail;
  frame.returns = hit.returns;
  stack_.push_back(frame);
}

void ProbeCalls::leave(const ProbeHit& hit) {
  drop_dead(hit.stack_pointer, hit.time_ns);
  if (!is_in(hit)) {
    // Entered before the first hit of the thread.
    if (!hit.tail_exit) {
      const OpenCallId parent = stack_.empty() ? OpenCallId::none : stack_.back().call;
      const std::uint64_t start = stack_.empty() ? first_ns_ : hit.time_ns;
      const OpenCallId call = calls_.open(hit.function, parent, SiteId::none, start, false);
      calls_.close(call, hit.time_ns, CallState::incomplete);
    }
    return;
  }
  // This may be the second exit of an activation: its conditional jump was not taken.
  stack_.back().left = false;
  if (hit.tail_exit) {
    stack_.back().left = true;
    stack_.back().left_to = hit.tail_target;
    stack_.back().left_site = hit.site;
    stack_.back().left_ns = hit.time_ns;
    return;
  }
  // A call that ended in a tail call ends with it, if it does not see its own return.
  bool tail = true;
  for (bool first = true; tail && !stack_.empty() && (first || !stack_.back().returns);
       first = false) {
    tail = stack_.back().tail;
    stack_.back().left = false;
    pop(hit.time_ns, CallState::complete);
  }
}

void ProbeCalls::finish(std::uint64_t end_ns, bool exited) {
  started_ = false;
  while (!stack_.empty()) {
    pop(end_ns, exited ? CallState::unwound : CallState::incomplete);
  }
}

} // namespace ptlens::stacks
