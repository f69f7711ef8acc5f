// Finds where control has gone when it did not return to the return address of the innermost frame:
// to another stack that waits for that address, when the code has replaced the stack; to an older
// frame of its stack (transfer/unwinding.hpp); to an older frame of the function; to a new stack.
#include "stacks/threads/call_builder.hpp"

#include <algorithm>
#include <optional>

namespace ptlens::stacks {

void CallBuilder::arrive(const Branch& branch, const Space& space, const CodeLocation& to) {
  const bool replaces_stack = facts_->replaces_stack(space, branch.from);
  // The frames of a goroutine that continues are not known: cgo may go back to the stack of C.
  const bool is_return =
      branch.kind != flow::BranchKind::indirect && (!replaces_stack || top().continued);
  // After a gap the frame may be another one than the one it was taken for.
  const bool trusted = !stack().base().damaged;
  if (is_return && top().return_address == 0) {
    return_to_unknown(branch, to);
    return;
  }
  if (is_return && !trusted) {
    pop_tails(branch.time_ns);
  }
  if (arrive_in_own_stack(branch, space, to) || arrive_in_waiting_stack(branch) ||
      (replaces_stack && arrive_deep_in_other_stack(branch))) {
    return;
  }
  if (trusted && to.known && symbolizer_->from(space, branch) == to.function) {
    return; // `ret` to an address in the function
  }
  const std::size_t below = is_return && !trusted ? stack().size() - 1 : stack().size();
  if (const std::size_t size = stack().with_function(to.function, below); size != 0) {
    pop_to(size, branch.time_ns, CallState::unwound);
  } else if (replaces_stack) {
    begin_stack(branch.time_ns);
    push_damaged(branch.time_ns, to.function);
  } else if (is_return && !trusted) {
    pop(branch.time_ns, CallState::incomplete);
    push_damaged(branch.time_ns, to.function);
  } else if (!is_return && !to.known) {
    push_tail(branch.time_ns, to.function, symbolizer_->site(space, branch));
  } else {
    top().damaged = true; // how control left it is not known
  }
}

// Control is at the first instruction of a function, by an indirect jump or by a `ret` to an
// address that was pushed.
void CallBuilder::arrive_at_entry(const Branch& branch, const Space& space,
                                  const CodeLocation& to) {
  if (facts_->replaces_stack(space, branch.from)) {
    begin_stack(branch.time_ns);
    push(branch.time_ns, to.function, SiteId::none, 0);
    return;
  }
  push_tail(branch.time_ns, to.function, symbolizer_->site(space, branch));
}

bool CallBuilder::arrive_in_own_stack(const Branch& branch, const Space& space,
                                      const CodeLocation& to) {
  const std::optional<Unwinding> found = unwinding(stack(), *facts_, space, to, branch.to);
  if (!found) {
    return false;
  }
  pop_to(found->frames, branch.time_ns, CallState::unwound);
  if (found->returns) {
    finish_top(branch.time_ns);
  }
  return true;
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
  resumed_.emplace(branch, std::move(candidates));
  if (resumed_->is_certain()) {
    decide();
  }
  return true;
}

// Holds branches back until it is known which stack control has come to.
void CallBuilder::hold(const ResumedStack::Held& held, const PairedGroup& paired) {
  if (resumed_ && !resumed_->hold(held, paired)) {
    decide();
  }
}

// Switches to the stack that control has come to, and takes what was held back.
void CallBuilder::decide() {
  if (!resumed_) {
    return;
  }
  ResumedStack resumed = std::move(*resumed_);
  resumed_.reset();
  indistinct_switches_ += resumed.is_certain() ? 0 : 1;
  calls_.set_uncertainty(resumed.arrival().uncertainty_ns);
  switch_to(resumed.stack(), resumed.arrival().time_ns);
  finish_top(resumed.arrival().time_ns);
  const std::uint32_t numbering = symbolizer_->numbering();
  for (const ResumedStack::Held& held : resumed.held()) {
    symbolizer_->set_numbering(held.numbering);
    if (held.points != nullptr) {
      add_paired(resumed.group_of(held), *held.points, *held.space);
    } else {
      add(held.branch, *held.space);
    }
  }
  symbolizer_->set_numbering(numbering);
}

// Looks for a frame below the innermost one of a suspended stack.
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

// Control returns from a frame whose entry was not seen: it began before the trace, in a gap, or as
// the first frame of its stack.
void CallBuilder::return_to_unknown(const Branch& branch, const CodeLocation& to) {
  const bool tail = top().tail;
  pop_tails(branch.time_ns);
  if (tail && current_ != 0 && to.known && to.function == top().function) {
    return; // the first function of a stack has put a return address into itself below its callee
  }
  if (stack().size() > 1) {
    return_from_unknown(branch, to);
    return;
  }
  if (!top().damaged) {
    pop(branch.time_ns, CallState::complete);
    push_damaged(branch.time_ns, to.function).continued =
        symbolizer_->go_role(to.function) == GoRole::is_outmost;
    return;
  }
  // All that was seen of this stack so far is inside the caller.
  const Frame old_root = top();
  stack().frames.pop_back();
  stack().forget_above();
  push_damaged(calls_.start(old_root.call), to.function).continued = old_root.continued;
  calls_.reparent(old_root.call, top().call);
  close(old_root, branch.time_ns, CallState::incomplete);
}

// Control returns from a frame entered in a gap to its caller: a frame from before the gap, which
// is then known to be open still, or another one that began in the gap.
void CallBuilder::return_from_unknown(const Branch& branch, const CodeLocation& to) {
  const Frame returning = top();
  std::vector<Frame>& frames = stack().frames;
  const std::uint64_t start = calls_.start(returning.call);
  const auto remaining = [&]() -> std::size_t {
    for (std::size_t count = frames.size() - 1; count > 1; --count) {
      if (frames[count - 1].return_address == branch.to && !frames[count - 1].tail) {
        return count - 1;
      }
    }
    return stack().with_function(to.function, frames.size() - 1);
  }();
  frames.pop_back();
  stack().forget_above();
  if (remaining != 0) {
    // The frames that the returning frame was taken to be in had ended when it began.
    while (frames.size() > remaining) {
      pop(top().lost_ns != 0 ? std::min(top().lost_ns, start) : start, CallState::incomplete);
    }
    top().lost_ns = 0;
  } else {
    push_damaged(start, to.function).continued = returning.continued;
  }
  calls_.reparent(returning.call, top().call);
  close(returning, branch.time_ns, CallState::complete);
}

void CallBuilder::begin_stack(std::uint64_t time_ns) {
  stacks_.emplace_back();
  switch_to(stacks_.size() - 1, time_ns);
}

// Excludes the time that passes on another stack from the self time of the innermost frame.
void CallBuilder::switch_to(std::size_t index, std::uint64_t time_ns) {
  stack().suspended_ns = time_ns;
  stack().turn = ++turns_;
  if (!stack().empty()) {
    suspended_.add(top().return_address, stack().turn, current_);
  }
  current_ = index;
  if (!stack().empty()) {
    suspended_.remove(top().return_address, stack().turn);
    calls_.spend_elsewhere(top().call, time_ns - stack().suspended_ns);
  }
}

} // namespace ptlens::stacks
