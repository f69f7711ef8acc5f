// The rules by which branches open and close calls.
#include "stacks/call_builder.hpp"

#include <algorithm>

namespace ptlens::stacks {
namespace {

constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;

} // namespace

void CallBuilder::add(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  if (!started_) {
    started_ = true;
    first_ns_ = branch.time_ns;
    root_start_ns_ = branch.time_ns;
    last_ns_ = branch.time_ns;
  }
  last_ns_ = std::max(last_ns_, branch.time_ns);
  log_.set_spread(branch.spread_ns);
  if (stack_.empty() && branch.from != 0) {
    push_root(resolver_->resolve(space, branch.from));
  }
  switch (branch.kind) {
  case flow::BranchKind::on:
    on(branch, space);
    break;
  case flow::BranchKind::off:
    outside_ = true;
    resume_address_ = branch.from;
    break;
  case flow::BranchKind::gap:
    gap(branch);
    break;
  case flow::BranchKind::call:
    call(branch, space);
    break;
  case flow::BranchKind::ret:
    ret(branch, space);
    break;
  case flow::BranchKind::jump:
  case flow::BranchKind::cond:
  case flow::BranchKind::indirect:
    jump(branch, space);
    break;
  case flow::BranchKind::syscall:
  case flow::BranchKind::interrupt:
    leave(branch, space);
    break;
  }
}

void CallBuilder::push(std::uint64_t time_ns, const Place& place, std::uint32_t site,
                       std::uint64_t return_address, bool tail) {
  const std::uint32_t parent = stack_.empty() ? no_call : stack_.back().call;
  Frame frame;
  frame.call = log_.open(place.function, parent, site, time_ns, tail);
  frame.function = place.function;
  frame.return_address = return_address;
  frame.folded = place.folded;
  frame.tail = tail;
  stack_.push_back(frame);
}

void CallBuilder::push_damaged(std::uint64_t time_ns, const Place& place) {
  push(time_ns, place, no_site, 0, false);
  stack_.back().damaged = true;
}

void CallBuilder::push_root(const Place& place) {
  push_damaged(first_ns_, place);
}

void CallBuilder::pop(std::uint64_t time_ns, CallState state) {
  const Frame& frame = stack_.back();
  log_.close(frame.call, time_ns, frame.damaged ? CallState::incomplete : state);
  stack_.pop_back();
}

void CallBuilder::pop_to(std::size_t size, std::uint64_t time_ns, CallState state) {
  while (stack_.size() > size) {
    pop(time_ns, state);
  }
}

// Control went to a caller from before the trace: it holds all that was seen so far.
void CallBuilder::replace_root(std::uint64_t time_ns, const Place& place) {
  pop_to(1, time_ns, CallState::unwound);
  const std::uint32_t old_root = stack_.front().call;
  pop(time_ns, CallState::incomplete);
  push_root(place);
  log_.adopt(old_root, stack_.front().call);
}

bool CallBuilder::land_in_frame(std::uint64_t time_ns, std::uint32_t function, CallState popped) {
  for (std::size_t size = stack_.size(); size > 0; --size) {
    if (stack_[size - 1].function == function) {
      pop_to(size, time_ns, popped);
      return true;
    }
  }
  return false;
}

void CallBuilder::land(std::uint64_t time_ns, const Place& place, CallState popped) {
  if (!land_in_frame(time_ns, place.function, popped)) {
    replace_root(time_ns, place);
  }
}

void CallBuilder::on(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  const Place place = resolver_->resolve(space, branch.to);
  const bool expected = outside_ && branch.to == resume_address_;
  const std::uint64_t interrupted = outside_ ? resume_address_ : 0;
  outside_ = false;
  if (stack_.empty()) {
    push_root(place);
    in_gap_ = false;
    return;
  }
  if (in_gap_) {
    in_gap_ = false;
    gaps_.emplace_back(gap_begin_, branch.time_ns);
    Frame& top = stack_.back();
    if (top.folded && place.entry && !place.folded) {
      log_.rename(top.call, place.function);
      top.function = place.function;
      top.folded = false;
    } else if (top.function != place.function &&
               !land_in_frame(branch.time_ns, place.function, CallState::incomplete)) {
      push_damaged(branch.time_ns, place);
    }
    return;
  }
  if (expected || stack_.back().function == place.function) {
    return;
  }
  // Back at the place that a signal handler interrupted?
  for (std::size_t size = stack_.size(); size > 0; --size) {
    if (stack_[size - 1].resume_address != 0 && stack_[size - 1].resume_address == branch.to) {
      pop_to(size - 1, branch.time_ns, CallState::complete);
      return;
    }
  }
  if (place.entry) {
    push(branch.time_ns, place, no_site, 0, false);
    stack_.back().resume_address = interrupted;
    return;
  }
  if (!land_in_frame(branch.time_ns, place.function, CallState::unwound)) {
    push_damaged(branch.time_ns, place);
  }
}

void CallBuilder::gap(const flow::Branch& branch) {
  for (Frame& frame : stack_) {
    frame.damaged = true;
  }
  if (!in_gap_) {
    gap_begin_ = branch.time_ns;
  }
  in_gap_ = true;
  outside_ = false;
}

void CallBuilder::call(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  const std::uint64_t return_address = branch.from + branch.from_size;
  if (branch.to == return_address) {
    return; // reads the instruction pointer
  }
  const Place place = resolver_->resolve(space, branch.to);
  if (!place.entry && place.known && place.function == stack_.back().function) {
    local_calls_.push_back({stack_.size(), return_address});
    return; // a local subroutine of hand-written code
  }
  push(branch.time_ns, place, resolver_->site(space, branch.from), return_address, false);
}

void CallBuilder::jump(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  const Place place = resolver_->resolve(space, branch.to);
  Frame& top = stack_.back();
  if (place.function == top.function) {
    return;
  }
  if (top.folded) {
    if (!place.folded && place.known) {
      log_.rename(top.call, place.function);
      top.function = place.function;
      top.folded = false;
    }
    return;
  }
  if (place.entry || place.folded) {
    push(branch.time_ns, place, resolver_->site(space, branch.from), top.return_address, true);
    return;
  }
  if (!land_in_frame(branch.time_ns, place.function, CallState::unwound)) {
    push(branch.time_ns, place, resolver_->site(space, branch.from), top.return_address, true);
  }
}

void CallBuilder::ret(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  for (std::size_t size = stack_.size(); size > 0; --size) {
    if (stack_[size - 1].return_address != branch.to) {
      continue;
    }
    pop_to(size, branch.time_ns, CallState::unwound);
    // A tail call and the call it replaced end together.
    while (stack_.back().tail && stack_.size() > 1) {
      pop(branch.time_ns, CallState::complete);
    }
    if (stack_.size() > 1) {
      pop(branch.time_ns, CallState::complete);
    }
    return;
  }
  while (!local_calls_.empty() && local_calls_.back().depth >= stack_.size()) {
    const LocalCall local = local_calls_.back();
    local_calls_.pop_back();
    if (local.depth == stack_.size() && local.return_address == branch.to) {
      return;
    }
  }
  const Place place = resolver_->resolve(space, branch.to);
  Frame& top = stack_.back();
  if (top.folded && place.entry) {
    log_.rename(top.call, place.function);
    top.function = place.function;
    top.folded = place.folded;
    return;
  }
  if (top.resume_address != 0) {
    // A signal handler returns to the code that ends the signal.
    const std::uint64_t resume = top.resume_address;
    pop(branch.time_ns, CallState::complete);
    push(branch.time_ns, place, no_site, 0, false);
    stack_.back().resume_address = resume;
    return;
  }
  if (top.return_address == 0) {
    return_to_unknown(branch.time_ns, place);
    return;
  }
  if (place.entry) {
    push(branch.time_ns, place, resolver_->site(space, branch.from), top.return_address, true);
    return; // a return used as a jump
  }
  if (place.function != top.function) {
    land(branch.time_ns, place, CallState::unwound);
  }
}

// The frame on top was entered before the trace or inside a gap: nobody knows its return address.
void CallBuilder::return_to_unknown(std::uint64_t time_ns, const Place& place) {
  while (stack_.back().tail) {
    pop(time_ns, CallState::complete);
  }
  if (stack_.size() == 1) {
    replace_root(time_ns, place);
    return;
  }
  pop(time_ns, CallState::complete);
  if (!land_in_frame(time_ns, place.function, CallState::unwound)) {
    push_damaged(time_ns, place);
  }
}

// Into the kernel or an interrupt handler, or back from it.
void CallBuilder::leave(const flow::Branch& branch, const symbols::AddressSpaceVersion& space) {
  if (branch.to == 0) {
    outside_ = true;
    resume_address_ = branch.from + branch.from_size;
    return;
  }
  if (branch.from >= first_kernel_address && branch.to < first_kernel_address) {
    ret(branch, space);
    return;
  }
  push(branch.time_ns, resolver_->resolve(space, branch.to), resolver_->site(space, branch.from),
       branch.from + branch.from_size, false);
}

void CallBuilder::exec(std::uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  pop_to(0, time_ns, CallState::unwound);
  root_start_ns_ = last_ns_;
  outside_ = false;
}

void CallBuilder::finish(bool exited) {
  if (in_gap_) {
    gaps_.emplace_back(gap_begin_, last_ns_);
    in_gap_ = false;
  }
  pop_to(0, last_ns_, exited ? CallState::unwound : CallState::incomplete);
}

} // namespace ptlens::stacks
