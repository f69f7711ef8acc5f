// Opens and closes frames for calls, jumps and returns that go to the expected address.
#include "stacks/threads/call_builder.hpp"

#include <algorithm>

namespace ptlens::stacks {

void CallBuilder::add(const Branch& branch, const Space& space) {
  if (!started_) {
    started_ = true;
    first_ns_ = branch.time_ns;
    root_start_ns_ = branch.time_ns;
    last_ns_ = branch.time_ns;
  }
  if (!in_gap_ || branch.kind != flow::BranchKind::gap) {
    last_ns_ = std::max(last_ns_, branch.time_ns);
  }
  if (!resumed_) {
    take(branch, space);
  } else if (switches_stack(branch, space, suspended_, *facts_)) {
    decide();
    add(branch, space);
  } else {
    hold({.branch = branch, .space = &space, .numbering = symbolizer_->numbering()}, {});
  }
}

void CallBuilder::take(const Branch& branch, const Space& space) {
  calls_.set_uncertainty(branch.uncertainty_ns);
  const bool begins = branch.kind == flow::BranchKind::on;
  const bool is_gap = branch.kind == flow::BranchKind::gap;
  if (stack().empty() && branch.from != 0) {
    push_damaged(root_start_ns_, symbolizer_->from(space, branch));
  } else if (in_gap_ && !begins && !is_gap) {
    on_after_gap(branch, symbolizer_->resolve(space, branch.from));
  }
  if (stack().empty() && !begins && !is_gap) {
    return; // from address 0, before anything is known to run
  }
  outside_ = outside_ && begins;
  switch (branch.kind) {
  case flow::BranchKind::on:
    on(branch, space);
    break;
  case flow::BranchKind::off:
    off(branch);
    break;
  case flow::BranchKind::gap:
    gap(branch);
    break;
  case flow::BranchKind::syscall:
  case flow::BranchKind::interrupt:
    leave(branch, space);
    break;
  default:
    transfer(branch, space);
    break;
  }
  taken_ns_ = branch.time_ns;
}

// Between functions, or inside one.
void CallBuilder::transfer(const Branch& branch, const Space& space) {
  switch (branch.kind) {
  case flow::BranchKind::call:
    call(branch, space);
    break;
  case flow::BranchKind::ret:
    ret(branch, space);
    break;
  case flow::BranchKind::indirect:
    indirect_jump(branch, space);
    break;
  default:
    jump(branch, space);
    break;
  }
}

void CallBuilder::add_all(std::span<const Branch> branches, const Space& space) {
  while (!branches.empty()) {
    branches = branches.subspan(take_plain(branches, space));
    if (!branches.empty()) {
      add(branches.front(), space);
      branches = branches.subspan(1);
    }
  }
}

void CallBuilder::push_tail(std::uint64_t time_ns, FunctionId function, SiteId site) {
  Frame& frame = stack().frames.emplace_back();
  const Frame& below = *std::prev(stack().frames.end(), 2);
  frame.call = calls_.open(function, below.call, site, time_ns, true);
  frame.function = function;
  frame.return_address = below.return_address;
  frame.tail = true;
}

Frame& CallBuilder::push_damaged(std::uint64_t time_ns, FunctionId function) {
  Frame& frame = push(time_ns, function, SiteId::none, 0);
  frame.damaged = true;
  return frame;
}

// Marks the innermost frame as nothing but a stub so far.
void CallBuilder::set_stub() {
  top().is_stub = true;
  calls_.set_provisional(top().call);
}

void CallBuilder::close(const Frame& frame, std::uint64_t time_ns, CallState state) {
  if (frame.continued) {
    calls_.discard(frame.call, time_ns);
  } else {
    calls_.close(frame.call, time_ns, frame.damaged ? CallState::incomplete : state);
  }
}

void CallBuilder::pop(std::uint64_t time_ns, CallState state) {
  close(top(), time_ns, state);
  stack().frames.pop_back();
  stack().forget_above();
  if (!stack().empty() && top().lost_ns != 0) {
    top().lost_ns = std::max(top().lost_ns, time_ns); // it was open as long as its callee
  }
}

// Ends frames until `size` are left. Control is in the innermost of them.
void CallBuilder::pop_to(std::size_t size, std::uint64_t time_ns, CallState state) {
  while (stack().size() > size) {
    // A frame that was not seen after a gap may have ended in it.
    pop(top().lost_ns != 0 ? top().lost_ns : time_ns, state);
  }
  if (!stack().empty()) {
    top().lost_ns = 0;
  }
}

// Ends the tail calls: they end together with the call that they replaced.
void CallBuilder::pop_tails(std::uint64_t time_ns) {
  while (top().tail && stack().size() > 1) {
    pop(time_ns, CallState::complete);
  }
}

// The innermost frame returns to its return address.
void CallBuilder::finish_top(std::uint64_t time_ns) {
  const std::uint64_t address = top().return_address;
  bool returns_twice = false;
  bool tail = true;
  while (tail && stack().size() > 1) {
    tail = top().tail;
    returns_twice = returns_twice || symbolizer_->returns_twice(top().function);
    pop(time_ns, CallState::complete);
  }
  top().lost_ns = 0;
  if (returns_twice) {
    stack().mark(address);
  }
}

void CallBuilder::call(const Branch& branch, const Space& space) {
  const std::uint64_t return_address = branch.address_behind();
  if (reads_instruction_pointer(branch.to, return_address)) {
    return;
  }
  const CodeLocation to = symbolizer_->to(space, branch);
  if (!begins_call(to) && is_local_call(symbolizer_->resolve(space, branch.from), to)) {
    stack().local_calls.push_back({stack().size(), branch.from, return_address});
    return;
  }
  push(branch.time_ns, to.function, symbolizer_->site(space, branch), return_address);
  if (to.is_stub) {
    set_stub();
  }
}

// Takes a direct jump.
void CallBuilder::jump(const Branch& branch, const Space& space) {
  const CodeLocation to = symbolizer_->to(space, branch);
  if (in_stub()) {
    leave_stub(branch, to);
  } else if (to.is_stub) {
    enter_stub(branch, space, to);
  } else if (is_tail_call(to, top().function)) {
    push_tail(branch.time_ns, to.function, symbolizer_->site(space, branch));
  }
}

void CallBuilder::indirect_jump(const Branch& branch, const Space& space) {
  if (symbolizer_->go_role(symbolizer_->from(space, branch)) == GoRole::continues) {
    continue_goroutine(branch, space);
    return;
  }
  if (switches_stack(branch, space, suspended_, *facts_) && arrive_in_waiting_stack(branch)) {
    return;
  }
  const CodeLocation to = symbolizer_->to(space, branch);
  if (in_stub()) {
    leave_stub(branch, to);
  } else if (to.is_stub) {
    enter_stub(branch, space, to);
  } else if (is_indirect_tail_call(to, top().function)) {
    arrive_at_entry(branch, space, to);
  } else if (to.known && symbolizer_->from(space, branch) == to.function) {
    return; // through a table of the function
  } else if (stack().returns_to(branch.to)) {
    finish_top(branch.time_ns);
  } else {
    arrive(branch, space, to);
  }
}

// A jump goes to a stub. A thunk may lead back to the caller, so that it gets no frame before it
// has reached another function.
void CallBuilder::enter_stub(const Branch& branch, const Space& space, const CodeLocation& to) {
  const SiteId site = symbolizer_->site(space, branch);
  if (to.is_thunk) {
    top().stub_site = site;
  } else {
    push_tail(branch.time_ns, to.function, site);
    set_stub();
  }
}

// The stub that was called, or jumped to, has reached `to`.
void CallBuilder::leave_stub(const Branch& branch, const CodeLocation& to) {
  if (is_still_in_stub(to, top().is_stub)) {
    return;
  }
  if (top().is_stub) {
    calls_.rename(top().call, to.function);
    top().function = to.function;
    top().is_stub = false;
    return;
  }
  const SiteId site = std::exchange(top().stub_site, SiteId::none);
  if (is_tail_call_by_thunk(to, top().function)) {
    push_tail(branch.time_ns, to.function, site);
  }
}

void CallBuilder::ret(const Branch& branch, const Space& space) {
  if (switches_stack(branch, space, suspended_, *facts_) && arrive_in_waiting_stack(branch)) {
    return;
  }
  std::vector<LocalCall>& locals = stack().local_calls;
  const auto is_pending = [&] { return !locals.empty() && locals.back().depth == stack().size(); };
  for (auto local = locals.rbegin(); local != locals.rend() && local->depth == stack().size();
       ++local) {
    if (local->return_address == branch.to) {
      locals.erase(std::prev(local.base()), locals.end());
      return;
    }
  }
  if (stack().returns_to(branch.to)) {
    finish_top(branch.time_ns);
    return;
  }
  const CodeLocation to = symbolizer_->to(space, branch);
  if (is_pending()) {
    locals.pop_back(); // its return address was overwritten
    if (!to.entry && symbolizer_->from(space, branch) == to.function) {
      return; // jumped inside the function through a retpoline
    }
  }
  if (in_stub() && (to.entry || top().is_stub || to.function == top().function)) {
    leave_stub(branch, to);
    return;
  }
  top().stub_site = SiteId::none;
  if (return_from_handler(branch)) {
    return;
  }
  if (!to.entry || (top().return_address == 0 && !is_pending())) {
    arrive(branch, space, to);
  } else if (is_pending()) {
    const LocalCall local = locals.back();
    locals.pop_back();
    push(branch.time_ns, to.function, symbolizer_->site(space, local.from), local.return_address);
  } else {
    arrive_at_entry(branch, space, to);
  }
}

void CallBuilder::exec(std::uint64_t time_ns) {
  decide();
  last_ns_ = std::max(last_ns_, time_ns);
  end_stack(last_ns_, CallState::unwound);
  root_start_ns_ = last_ns_;
  outside_ = false;
}

void CallBuilder::finish(bool exited) {
  decide();
  if (in_gap_) {
    gaps_.emplace_back(gap_begin_, last_ns_);
    in_gap_ = false;
    note_lost_inside(last_ns_ > gap_begin_ ? calls_.opened() : 0);
  }
  end_stack(last_ns_, exited ? CallState::unwound : CallState::incomplete);
}

} // namespace ptlens::stacks
