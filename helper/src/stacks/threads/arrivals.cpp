// Where control has gone when it did not return to the innermost frame's return address: to another
// stack that waits for that address, when the code has replaced the stack; to setjmp's return
// address; to the landing pad of an exception, which tells apart the activations of a recursive
// function by the call that each of them is in; to the return address of an older frame; to an
// older frame of the function; to a stack that begins.
#include "stacks/threads/call_builder.hpp"

#include <algorithm>

namespace ptlens::stacks {

void CallBuilder::arrive(const Branch& branch, const Space& space, const Place& place) {
  const bool replaces_stack = facts_->replaces_stack(space, branch.from);
  const bool is_return = branch.kind != flow::BranchKind::indirect && !replaces_stack;
  // Else the frame may be another one than it was taken for after a gap.
  const bool trusted = !stack().base().damaged;
  if (is_return && top().return_address == 0) {
    return_to_unknown(branch, place);
    return;
  }
  if (is_return && !trusted) {
    pop_tails(branch.time_ns);
  }
  if (arrive_in_own_stack(branch, space, place) || arrive_in_waiting_stack(branch) ||
      (replaces_stack && arrive_deep_in_other_stack(branch))) {
    return;
  }
  if (trusted && place.known && symbolizer_->from(space, branch) == place.function) {
    return; // `ret` to a place in the function
  }
  const std::size_t below = is_return && !trusted ? stack().size() - 1 : stack().size();
  if (const std::size_t size = stack().with_function(place.function, below); size != 0) {
    pop_to(size, branch.time_ns, CallState::unwound);
  } else if (replaces_stack) {
    begin_stack(branch.time_ns);
    push_damaged(branch.time_ns, place.function);
  } else if (is_return && !trusted) {
    pop(branch.time_ns, CallState::incomplete);
    push_damaged(branch.time_ns, place.function);
  } else if (!is_return && !place.known) {
    push_tail(branch.time_ns, place.function, symbolizer_->site(space, branch));
  } else {
    top().damaged = true; // nobody knows how it was left
  }
}

// At the first instruction of a function, by an indirect jump or by a `ret` to what was pushed.
void CallBuilder::arrive_at_entry(const Branch& branch, const Space& space, const Place& place) {
  if (facts_->replaces_stack(space, branch.from)) {
    begin_stack(branch.time_ns);
    push(branch.time_ns, place.function, no_site, 0);
    return;
  }
  push_tail(branch.time_ns, place.function, symbolizer_->site(space, branch));
}

bool CallBuilder::arrive_in_own_stack(const Branch& branch, const Space& space,
                                      const Place& place) {
  if (const std::size_t size = stack().with_landmark(branch.to); size != 0) {
    pop_to(size, branch.time_ns, CallState::unwound);
    return true;
  }
  if (const std::size_t size = with_landing_pad(space, place, branch.to); size != 0) {
    pop_to(size, branch.time_ns, CallState::unwound);
    return true;
  }
  if (const std::size_t size = stack().with_return_address(branch.to); size > 1) {
    pop_to(size, branch.time_ns, CallState::unwound);
    finish_top(branch.time_ns);
    return true;
  }
  return false;
}

// Frames that remain when an exception lands at the address: up to the innermost one that is in a
// call for which its function's exception table names that landing pad.
std::size_t CallBuilder::with_landing_pad(const Space& space, const Place& place,
                                          std::uint64_t address) {
  const std::vector<Frame>& frames = stack().frames;
  for (std::size_t count = frames.size(); count > 1; --count) {
    const Frame& callee = frames[count - 1];
    if (frames[count - 2].function != place.function || callee.tail) {
      continue;
    }
    const std::uint64_t call_end =
        callee.signal ? callee.resume_address + 1 : callee.return_address;
    if (call_end != 0 && facts_->landing_pad(space, call_end) == address) {
      return count - 1;
    }
  }
  return 0;
}

bool CallBuilder::arrive_in_waiting_stack(const Branch& branch) {
  constexpr std::size_t most_candidates = 1024;
  std::vector<ResumedStack::Candidate> candidates;
  if (branch.to == 0) {
    return false;
  }
  for (const std::size_t stack : suspended_.at(branch.to, most_candidates)) {
    candidates.push_back({stack, without_innermost(stacks_[stack].frames)});
  }
  if (candidates.empty()) {
    return false;
  }
  lookahead_.emplace(branch, std::move(candidates));
  if (lookahead_->is_certain()) {
    decide();
  }
  return true;
}

// Until it is known which stack control has come to.
void CallBuilder::hold(const ResumedStack::Held& held, std::span<const flow::ReturnedCall> calls) {
  if (lookahead_ && !lookahead_->hold(held, calls)) {
    decide();
  }
}

// Goes on with what was held back, on the stack that it tells.
void CallBuilder::decide() {
  if (!lookahead_) {
    return;
  }
  ResumedStack lookahead = std::move(*lookahead_);
  lookahead_.reset();
  indistinct_switches_ += lookahead.is_certain() ? 0 : 1;
  log_.set_uncertainty(lookahead.arrival().uncertainty_ns);
  switch_to(lookahead.stack(), lookahead.arrival().time_ns);
  finish_top(lookahead.arrival().time_ns);
  const std::uint32_t numbering = symbolizer_->numbering();
  for (const ResumedStack::Held& held : lookahead.held()) {
    symbolizer_->set_numbering(held.numbering);
    if (held.points != nullptr) {
      add_returned(held.part, lookahead.calls_of(held), *held.points, *held.space);
    } else {
      add(held.branch, *held.space);
    }
  }
  symbolizer_->set_numbering(numbering);
}

// To a frame below the innermost one of a suspended stack.
bool CallBuilder::arrive_deep_in_other_stack(const Branch& branch) {
  for (std::size_t index = 0; index < stacks_.size(); ++index) {
    if (index == current_ || stacks_[index].empty()) {
      continue;
    }
    const std::size_t landmark = stacks_[index].with_landmark(branch.to);
    const std::size_t returning = stacks_[index].with_return_address(branch.to);
    if (landmark != 0) {
      switch_to(index, branch.time_ns);
      pop_to(landmark, branch.time_ns, CallState::unwound);
      return true;
    }
    if (returning > 1) {
      switch_to(index, branch.time_ns);
      pop_to(returning, branch.time_ns, CallState::unwound);
      finish_top(branch.time_ns);
      return true;
    }
  }
  return false;
}

// From a frame that was entered unseen: before the trace, in a gap, or as the first of its stack.
void CallBuilder::return_to_unknown(const Branch& branch, const Place& place) {
  const bool tail = top().tail;
  pop_tails(branch.time_ns);
  if (tail && current_ != 0 && place.known && place.function == top().function) {
    return; // what a stack begins with has put a return address into itself below its callee
  }
  if (stack().size() > 1) {
    return_from_unknown(branch, place);
    return;
  }
  if (!top().damaged) {
    pop(branch.time_ns, CallState::complete);
    push_damaged(branch.time_ns, place.function);
    return;
  }
  // The caller holds all that was seen of this stack so far.
  const std::uint32_t old_root = top().call;
  stack().frames.pop_back();
  stack().forget_above();
  push_damaged(log_.start(old_root), place.function);
  log_.reparent(old_root, top().call);
  log_.close(old_root, branch.time_ns, CallState::incomplete);
}

// From a frame entered in a gap to its caller: a frame from before the gap, which so turns out to
// have lived on, or another one that began in the gap.
void CallBuilder::return_from_unknown(const Branch& branch, const Place& place) {
  const Frame returning = top();
  std::vector<Frame>& frames = stack().frames;
  const std::uint64_t start = log_.start(returning.call);
  const auto keep = [&]() -> std::size_t {
    for (std::size_t count = frames.size() - 1; count > 1; --count) {
      if (frames[count - 1].return_address == branch.to && !frames[count - 1].tail) {
        return count - 1;
      }
    }
    return stack().with_function(place.function, frames.size() - 1);
  }();
  frames.pop_back();
  stack().forget_above();
  if (keep != 0) {
    // What the returning frame was taken to lie in had ended when it began.
    while (frames.size() > keep) {
      pop(top().lost_ns != 0 ? std::min(top().lost_ns, start) : start, CallState::incomplete);
    }
    top().lost_ns = 0;
  } else {
    push_damaged(start, place.function);
  }
  log_.reparent(returning.call, top().call);
  log_.close(returning.call, branch.time_ns,
             returning.damaged ? CallState::incomplete : CallState::complete);
}

void CallBuilder::begin_stack(std::uint64_t time_ns) {
  stacks_.emplace_back();
  switch_to(stacks_.size() - 1, time_ns);
}

// Time that passes on another stack is not the innermost frame's own.
void CallBuilder::switch_to(std::size_t index, std::uint64_t time_ns) {
  stack().suspended_ns = time_ns;
  stack().turn = ++turns_;
  if (!stack().empty()) {
    suspended_.add(top().return_address, stack().turn, current_);
  }
  current_ = index;
  if (!stack().empty()) {
    suspended_.remove(top().return_address, stack().turn);
    log_.spend_elsewhere(top().call, time_ns - stack().suspended_ns);
  }
}

} // namespace ptlens::stacks
