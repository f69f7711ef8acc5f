// Opens and closes frames where control enters and leaves the filtered range.
#include "stacks/threads/filtered_calls.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::stacks {

void FilteredCalls::add(const Branch& branch, const Space& space) {
  calls_.set_uncertainty(branch.uncertainty_ns);
  if (frames_.empty()) {
    if (first_ns_ == 0) {
      first_ns_ = branch.time_ns;
    }
    push(branch.time_ns, symbolizer_->outside_filter(), SiteId::none, 0, false);
    top().outside = true;
    top().damaged = true;
  }
  last_ns_ = std::max(last_ns_, branch.time_ns);
  switch (branch.kind) {
  case flow::BranchKind::on:
    on(branch, space);
    break;
  case flow::BranchKind::off:
  case flow::BranchKind::syscall:
  case flow::BranchKind::interrupt:
    off(branch, space);
    break;
  case flow::BranchKind::gap:
    gap(branch);
    break;
  case flow::BranchKind::call:
    call(branch, space, false);
    break;
  case flow::BranchKind::ret:
    ret(branch, space, false);
    break;
  case flow::BranchKind::jump:
  case flow::BranchKind::cond:
  case flow::BranchKind::indirect:
    jump(branch, space);
    break;
  }
}

void FilteredCalls::push(std::uint64_t time_ns, FunctionId function, SiteId site,
                         std::uint64_t return_address, bool tail) {
  Frame frame;
  frame.call =
      calls_.open(function, frames_.empty() ? OpenCallId::none : top().call, site, time_ns, tail);
  frame.function = function;
  frame.return_address = return_address;
  frame.tail = tail;
  frames_.push_back(frame);
}

void FilteredCalls::pop(std::uint64_t time_ns, CallState state) {
  calls_.close(top().call, time_ns, top().damaged ? CallState::incomplete : state);
  frames_.pop_back();
}

void FilteredCalls::pop_to(std::size_t size, std::uint64_t time_ns, CallState state) {
  while (frames_.size() > size) {
    pop(time_ns, state);
  }
}

void FilteredCalls::on(const Branch& branch, const Space& space) {
  const CodeLocation to = symbolizer_->to(space, branch);
  const bool resumed = resume_address_ != 0 && resume_address_ == branch.to;
  resume_address_ = 0;
  if (std::exchange(in_gap_, false)) {
    gaps_.emplace_back(gap_begin_, branch.time_ns);
    pop_to(1, gap_begin_, CallState::incomplete);
    push(branch.time_ns, to.function, SiteId::none, 0, false);
    top().damaged = !to.entry;
    return;
  }
  if (resumed) {
    return;
  }
  for (std::size_t size = frames_.size(); size > 1; --size) {
    const Frame& frame = frames_[size - 1];
    if (frame.outside && frame.return_address == branch.to) {
      pop_to(size, branch.time_ns, CallState::unwound);
      pop(branch.time_ns, CallState::complete);
      return;
    }
  }
  if (to.entry && !to.part) {
    push(branch.time_ns, to.function, SiteId::none, 0, false);
    return;
  }
  for (std::size_t size = frames_.size(); size > 1; --size) {
    if (!frames_[size - 1].outside && frames_[size - 1].function == to.function) {
      pop_to(size, branch.time_ns, CallState::unwound); // at a landing pad, or back from a part
      top().away = false;
      return;
    }
  }
  push(branch.time_ns, to.function, SiteId::none, 0, false);
  top().damaged = true;
}

void FilteredCalls::off(const Branch& branch, const Space& space) {
  switch (branch.leaving) {
  case flow::BranchKind::call:
    call(branch, space, true);
    return;
  case flow::BranchKind::ret:
    ret(branch, space, true);
    return;
  case flow::BranchKind::jump:
  case flow::BranchKind::cond:
  case flow::BranchKind::indirect:
    break;
  default:
    resume_address_ = branch.address_behind();
    return;
  }
  if (frames_.size() == 1) {
    return;
  }
  if (symbolizer_->to(space, branch).function == top().function) {
    top().away = true;
    return;
  }
  while (frames_.size() > 1) {
    const bool tail = top().tail;
    pop(branch.time_ns, CallState::incomplete);
    if (!tail) {
      break;
    }
  }
}

void FilteredCalls::gap(const Branch& branch) {
  for (Frame& frame : frames_) {
    frame.damaged = true;
  }
  if (!std::exchange(in_gap_, true)) {
    gap_begin_ = branch.time_ns;
  }
  resume_address_ = 0;
}

void FilteredCalls::call(const Branch& branch, const Space& space, bool leaves) {
  const std::uint64_t return_address = branch.address_behind();
  if (reads_instruction_pointer(branch.to, return_address)) {
    return;
  }
  const CodeLocation to = symbolizer_->to(space, branch);
  push(branch.time_ns, to.function, symbolizer_->site(space, branch), return_address, false);
  top().outside = leaves;
  if (leaves && symbolizer_->has_goroutines(symbolizer_->from(space, branch))) {
    for (Frame& frame : frames_) { // the thread may come back with another goroutine
      frame.damaged = true;
    }
  }
}

void FilteredCalls::jump(const Branch& branch, const Space& space) {
  const CodeLocation to = symbolizer_->to(space, branch);
  if (is_certain_tail_call(to, top().function) && frames_.size() > 1) {
    push(branch.time_ns, to.function, symbolizer_->site(space, branch), top().return_address, true);
  }
}

// Takes a return. It stays in the range only if the caller is in it as well.
void FilteredCalls::ret(const Branch& branch, const Space& space, bool leaves) {
  while (frames_.size() > 1) {
    const bool tail = top().tail;
    if (!tail && leaves) {
      calls_.set_site(top().call, symbolizer_->site_before(space, branch.to));
    }
    pop(branch.time_ns, CallState::complete);
    if (!tail) {
      break;
    }
  }
}

void FilteredCalls::exec(std::uint64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  pop_to(0, last_ns_, CallState::unwound);
}

void FilteredCalls::finish(bool exited) {
  if (std::exchange(in_gap_, false)) {
    gaps_.emplace_back(gap_begin_, last_ns_);
  }
  pop_to(0, last_ns_, exited ? CallState::unwound : CallState::incomplete);
}

} // namespace ptlens::stacks
