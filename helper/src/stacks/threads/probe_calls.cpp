// Matches entry and exit hits by the stack pointer, which is the same at the entry of a function
// and at each of its exits (System V ABI: it points to the return address).
//
// A hit takes time from its thread: part of it is in the latency of its own call, all of it in the
// calls around that. So a call contains the excess of its own two hits, and the cost of all hits
// between these. Costs have one cause, so that their uncertainties add up.
//
// A thread can lose its CPU while a hit is handled, and the recording does not show whether it did
// then or in the program's code. What ran instead is in the call, which without probes might have
// ended before: such a call is known to that much less. The interrupt that takes the CPU away runs
// first, on the thread's time: it took 35 to 70 µs on a virtual machine. Where the recording has
// the thread's registers at the switch, they say whether it was in the program's code.
//
// An exit's hit that comes long after the previous hit finds the kernel's code and data no longer
// in the caches, and can take several times as long.
#include "stacks/threads/probe_calls.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ptlens::stacks {
namespace {

ProbeTime operator+(const ProbeTime& one, const ProbeTime& other) {
  return {.ns = one.ns + other.ns,
          .uncertainty_ns = one.uncertainty_ns + other.uncertainty_ns,
          .preempted_ns = one.preempted_ns + other.preempted_ns};
}

ProbeTime operator-(const ProbeTime& one, const ProbeTime& part) {
  return {.ns = one.ns - part.ns,
          .uncertainty_ns = one.uncertainty_ns - part.uncertainty_ns,
          .preempted_ns = one.preempted_ns - part.preempted_ns};
}

constexpr std::uint64_t longest_interrupt_ns = 100'000;
constexpr std::uint64_t late_ns = 50'000;

std::uint64_t most_of(const ProbeTime& cost) {
  return static_cast<std::uint64_t>(std::ceil(cost.ns + cost.uncertainty_ns));
}

} // namespace

void ProbeCalls::add(const ProbeHit& hit) {
  if (!started_) {
    started_ = true;
    first_ns_ = hit.time_ns;
  }
  spent_.preempted_ns += preempted_in_hits(hit);
  late_ = hit.time_ns > last_hit_.time_ns + late_ns;
  last_hit_ = {.time_ns = hit.time_ns, .handled_ns = most_of(hit.cost)};
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
  spent_ = spent_ + hit.cost;
}

// Returns whether the thread's registers at the switch do not show that it was in its own code.
bool ProbeCalls::may_be_in_hit(const perfdata::OffCpuInterval& out) {
  constexpr std::uint64_t longest_switch_ns = 1'000'000; // from its sample to its record
  const SwitchPlace* last = nullptr;
  for (; next_place_ < switch_places_.size() && switch_places_[next_place_].time_ns <= out.begin;
       ++next_place_) {
    last = &switch_places_[next_place_];
  }
  return last == nullptr || last->time_ns + longest_switch_ns < out.begin || last->in_hit;
}

// Returns how long the thread was preempted since the last hit at times when that hit, or this one,
// may have been handled: with no more time on the CPU between than the hit takes, and before the
// switch an interrupt, whose time counts too.
std::uint64_t ProbeCalls::preempted_in_hits(const ProbeHit& hit) {
  while (next_switch_ < switches_.size() && switches_[next_switch_].begin < last_hit_.time_ns) {
    ++next_switch_;
  }
  const std::size_t first = next_switch_;
  std::size_t end = first;
  std::uint64_t off = 0;
  while (end < switches_.size() && switches_[end].end <= hit.time_ns) {
    off += switches_[end].end - switches_[end].begin;
    ++end;
  }
  next_switch_ = end;
  std::uint64_t found = 0;
  std::uint64_t off_before = 0;
  for (std::size_t at = first; at < end; ++at) {
    const perfdata::OffCpuInterval& out = switches_[at];
    const std::uint64_t length = out.end - out.begin;
    const std::uint64_t since = out.begin - last_hit_.time_ns - off_before;
    const std::uint64_t until = hit.time_ns - out.end - (off - off_before - length);
    const std::uint64_t interrupt = since - std::min(since, last_hit_.handled_ns);
    const bool after_last = interrupt <= (may_be_in_hit(out) ? longest_interrupt_ns : 0);
    if (out.preempted && (after_last || until <= most_of(hit.cost))) {
      found += length;
    }
    off_before += length;
  }
  return found;
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

void ProbeCalls::stop_callees(std::uint64_t time_ns) {
  stopped_ = true;
  drop_stopped(time_ns);
}

void ProbeCalls::spend(const ProbeTime& cost) {
  spent_ = spent_ + cost;
}

// Ends the innermost frames whose ends will not be seen.
void ProbeCalls::drop_stopped(std::uint64_t time_ns) {
  while (stopped_ && !stack_.empty() && stack_.back().stops) {
    pop(time_ns, CallState::incomplete);
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
    calls_.close(frame.call, frame.left_ns, CallState::incomplete,
                 frame.excess + frame.spent_when_left - frame.spent_before);
  } else {
    calls_.close(frame.call, time_ns, state, frame.excess + spent_ - frame.spent_before);
  }
  drop_last(!frame.left);
}

void ProbeCalls::drop_last(bool end_seen) {
  stack_.pop_back();
  if (!end_seen && !stack_.empty()) {
    callers_of_unseen_.insert(stack_.back().function);
  }
}

// Ends a frame that had no exit: an exception or longjmp ended it, at some time before this one.
void ProbeCalls::pop_unseen(std::uint64_t time_ns) {
  if (stack_.back().left) {
    pop(time_ns, CallState::incomplete);
    return;
  }
  calls_.close_unseen(stack_.back().call, time_ns);
  drop_last(false);
}

// Ends the frames below the stack pointer, which had no exit.
void ProbeCalls::drop_dead(std::uint64_t stack_pointer, std::uint64_t time_ns) {
  while (!stack_.empty() && stack_.back().stack_pointer < stack_pointer) {
    pop_unseen(time_ns);
    drop_stopped(time_ns);
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
    pop_unseen(hit.time_ns);
  }
  if (hit.callee && !tail && (stack_.empty() || stack_.back().function != hit.caller)) {
    return; // called by a function that is not measured
  }
  const OpenCallId parent = stack_.empty() ? OpenCallId::none : stack_.back().call;
  Frame frame;
  frame.call = calls_.open(hit.function, parent, site, hit.time_ns, tail);
  frame.function = hit.function;
  frame.stack_pointer = hit.stack_pointer;
  frame.return_address = hit.return_address;
  frame.tail = tail;
  frame.excess = hit.excess;
  frame.late = hit.late;
  frame.spent_before = spent_ + hit.cost;
  frame.returns = hit.returns;
  frame.stops = hit.stops;
  stack_.push_back(frame);
}

void ProbeCalls::leave(const ProbeHit& hit) {
  drop_dead(hit.stack_pointer, hit.time_ns);
  if (!is_in(hit)) {
    // Entered before the first hit of the thread, or left out.
    if (!hit.tail_exit && !hit.callee) {
      const OpenCallId parent = stack_.empty() ? OpenCallId::none : stack_.back().call;
      const std::uint64_t start = stack_.empty() ? first_ns_ : hit.time_ns;
      const OpenCallId call = calls_.open(hit.function, parent, SiteId::none, start, false);
      calls_.close(call, hit.time_ns, CallState::incomplete,
                   start == hit.time_ns ? ProbeTime{} : spent_);
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
    stack_.back().spent_when_left = spent_;
    return;
  }
  // A call that ended in a tail call ends with it, if it does not see its own return.
  bool tail = true;
  for (bool first = true; tail && !stack_.empty() && (first || !stack_.back().returns);
       first = false) {
    tail = stack_.back().tail;
    stack_.back().left = false;
    if (late_) {
      stack_.back().excess = stack_.back().excess + stack_.back().late;
    }
    pop(hit.time_ns, CallState::complete);
  }
  drop_stopped(hit.time_ns);
}

void ProbeCalls::finish(std::uint64_t end_ns, bool exited) {
  started_ = false;
  while (!stack_.empty()) {
    pop(end_ns, exited ? CallState::unwound : CallState::incomplete);
  }
}

} // namespace ptlens::stacks
