// Handles tracing that goes off and on: system calls and interrupts, signals, gaps, and the end.
#include "stacks/threads/call_builder.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace ptlens::stacks {
namespace {

constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;

} // namespace

void CallBuilder::off(const Branch& branch) {
  outside_ = true;
  outside_since_ = branch.time_ns;
  resume_address_ = branch.from;
  interrupted_ = true;
}

void CallBuilder::on(const Branch& branch, const Space& space) {
  const CodeLocation to = symbolizer_->to(space, branch);
  if (!outside_ && !in_gap_ && !stack().empty()) {
    // The trace of a processor ended without a packet, and continues on another processor.
    gap({.time_ns = taken_ns_, .kind = flow::BranchKind::gap});
  }
  const bool expected = outside_ && branch.to == resume_address_;
  if (!std::exchange(outside_, false)) {
    resume_address_ = 0;
    outside_since_ = branch.time_ns;
  }
  if (in_gap_) {
    on_after_gap(branch, to);
    return;
  }
  if (stack().empty()) {
    push_damaged(root_start_ns_, to.function);
    if (to.is_stub) {
      set_stub();
    }
    return;
  }
  if (!expected && resumes_in_kernel(branch)) {
    resume_in_kernel(branch, to);
    return;
  }
  const bool handler = may_begin_handler(to);
  if (!expected && handler && !top().signal && !stack().returns_to(branch.to) &&
      stack().with_interruption(branch.to) == 0) {
    begin_signal(branch.time_ns, to);
    return;
  }
  spend_outside(branch.time_ns);
  if (expected || end_signal(branch, to)) {
    return;
  }
  if (stack().returns_to(branch.to)) {
    finish_top(branch.time_ns);
  } else if (handler) {
    begin_signal(branch.time_ns, to);
  } else if (top().function != to.function) {
    // Tracing was off for a while by command: which calls ended meanwhile is not known.
    doubt(outside_since_);
    if (const std::size_t size = stack().with_function(to.function); size != 0) {
      pop_to(size, branch.time_ns, CallState::incomplete);
    } else {
      push_damaged(branch.time_ns, to.function);
    }
  }
}

// Returns true where the thread left its processor inside a traced kernel. perf's code switches
// tracing off as the thread leaves, and other code of perf switches it on again.
bool CallBuilder::resumes_in_kernel(const Branch& branch) {
  return resume_address_ >= first_kernel_address && branch.to >= first_kernel_address &&
         outside_since_ < branch.time_ns && calls_.was_off_cpu(outside_since_, branch.time_ns);
}

// The kernel functions that switched the thread out have ended unseen. The returns that follow show
// which frames these were. The thread has not left the kernel, so that all other frames are open.
void CallBuilder::resume_in_kernel(const Branch& branch, const CodeLocation& to) {
  spend_outside(branch.time_ns);
  std::vector<Frame>& frames = stack().frames;
  for (auto frame = frames.rbegin(); frame != frames.rend() && !frame->kernel; ++frame) {
    frame->lost_ns = frame->lost_ns != 0 ? frame->lost_ns : outside_since_;
  }
  push_damaged(branch.time_ns, to.function);
}

// Adds the time since tracing went off to the innermost frame.
void CallBuilder::spend_outside(std::uint64_t time_ns) {
  calls_.spend_outside(top().call, time_ns - std::min(outside_since_, time_ns));
}

// Notes that frames of this stack may have ended since then.
void CallBuilder::doubt(std::uint64_t since_ns) {
  for (Frame& frame : stack().frames) {
    frame.damaged = true;
    frame.lost_ns = frame.lost_ns != 0 ? frame.lost_ns : since_ns;
  }
}

void CallBuilder::on_after_gap(const Branch& branch, const CodeLocation& to) {
  in_gap_ = false;
  gaps_.emplace_back(gap_begin_, branch.time_ns);
  const std::uint32_t opened = stack().empty() ? UINT32_MAX : calls_.opened();
  if (stack().empty()) {
    push_damaged(root_start_ns_, to.function);
  } else if (in_stub() && to.entry && !to.is_stub) {
    leave_stub(branch, to);
  } else if (const std::size_t size = stack().with_function(to.function); size != 0) {
    pop_to(size, branch.time_ns, CallState::incomplete);
  } else {
    push_damaged(branch.time_ns, to.function);
    if (to.is_stub) {
      set_stub();
    }
  }
  if (!to.is_stub) {
    top().stub_site = SiteId::none; // the jump into a stub was before the gap
  }
  top().lost_ns = 0;
  note_lost_inside(opened);
}

// Notes whose own time the gap is: that of the innermost call of those that were opened before.
void CallBuilder::note_lost_inside(std::uint32_t opened) {
  for (const Frame& frame : stack().frames | std::views::reverse) {
    if (index_of(calls_.order(frame.call)) < opened) {
      lost_inside_.insert(frame.function);
      return;
    }
  }
}

void CallBuilder::gap(const Branch& branch) {
  for (Stack& each : stacks_) {
    for (Frame& frame : each.frames) {
      frame.damaged = true;
    }
  }
  doubt(branch.time_ns);
  if (!in_gap_) {
    gap_begin_ = branch.time_ns;
  }
  in_gap_ = true;
}

// Begins a signal handler. The kernel's work on the signal does not belong to the interrupted
// function, unless a system call was interrupted or another thread ran meanwhile.
void CallBuilder::begin_signal(std::uint64_t time_ns, const CodeLocation& handler) {
  const bool at_once = interrupted_ && !calls_.was_switched_out(outside_since_, time_ns);
  if (!at_once) {
    spend_outside(time_ns);
  }
  Frame& signal = push(at_once ? outside_since_ : time_ns, symbolizer_->signal(), SiteId::none, 0);
  signal.signal = true;
  signal.resume_address = resume_address_;
  if (at_once) {
    spend_outside(time_ns);
  }
  push(time_ns, handler.function, SiteId::none, 0);
}

// Returns true for a `ret` from a signal handler. It goes to the code that makes the kernel end the
// signal, which is part of no function of the program. A call that the handler inserted resumes the
// program itself.
bool CallBuilder::return_from_handler(const Branch& branch) {
  const std::vector<Frame>& frames = stack().frames;
  std::size_t handler = frames.size();
  while (handler > 1 && frames[handler - 1].tail) {
    --handler;
  }
  if (handler < 2 || !frames[handler - 2].signal || frames[handler - 1].return_address != 0) {
    return false;
  }
  pop_to(handler - 1, branch.time_ns, CallState::complete);
  if (branch.to == top().resume_address) {
    pop(branch.time_ns, CallState::complete);
  }
  return true;
}

// Tracing is on again after the kernel ended a signal: where it was interrupted, or where its
// handler asked for.
bool CallBuilder::end_signal(const Branch& branch, const CodeLocation& to) {
  if (!top().signal) {
    const std::size_t size = stack().with_interruption(branch.to);
    if (size != 0) {
      pop_to(size, branch.time_ns, CallState::unwound);
      pop(branch.time_ns, CallState::complete);
    }
    return size != 0;
  }
  if (branch.to != top().resume_address && to.entry) {
    push(branch.time_ns, to.function, SiteId::none, 0); // the next handler, or a call put between
    return true;
  }
  const bool resumed = branch.to == top().resume_address;
  pop(branch.time_ns, CallState::complete);
  outside_since_ = branch.time_ns;
  return resumed || top().function == to.function;
}

// Control goes into the kernel or an interrupt handler, or back from it.
void CallBuilder::leave(const Branch& branch, const Space& space) {
  if (branch.to == 0) {
    outside_ = true;
    outside_since_ = branch.time_ns;
    resume_address_ = branch.address_behind();
    interrupted_ = branch.kind == flow::BranchKind::interrupt;
    return;
  }
  const bool from_kernel = branch.from >= first_kernel_address;
  if (from_kernel && branch.to < first_kernel_address) {
    return_to_user(branch, space);
  } else if (from_kernel && stack().returns_to(branch.to)) {
    finish_top(branch.time_ns); // from an interrupt of the kernel
  } else {
    push(branch.time_ns, symbolizer_->to(space, branch).function, symbolizer_->site(space, branch),
         branch.address_behind())
        .kernel = !from_kernel;
  }
}

// Control leaves a traced kernel: for the interrupted code, for a signal handler, or after one.
void CallBuilder::return_to_user(const Branch& branch, const Space& space) {
  std::size_t entry = stack().size();
  while (entry > 0 && !stack().frames[entry - 1].kernel) {
    --entry;
  }
  if (entry == 0) {
    ret(branch, space); // the trace began in the kernel
    return;
  }
  const std::uint64_t interrupted = stack().frames[entry - 1].return_address;
  while (stack().size() > entry && top().tail) {
    pop(branch.time_ns, CallState::complete);
  }
  pop_to(entry, branch.time_ns, CallState::unwound);
  pop(branch.time_ns, CallState::complete);
  const CodeLocation to = symbolizer_->to(space, branch);
  if (branch.to == interrupted || stack().empty() || end_signal(branch, to)) {
    return;
  }
  if (may_begin_handler(to)) {
    resume_address_ = interrupted;
    interrupted_ = false;
    outside_since_ = branch.time_ns;
    begin_signal(branch.time_ns, to);
  } else {
    arrive(branch, space, to);
  }
}

// Ends all frames of all stacks.
void CallBuilder::end_stack(std::uint64_t time_ns, CallState state) {
  for (std::size_t index = 0; index < stacks_.size(); ++index) {
    if (index != current_ && !stacks_[index].empty()) {
      const std::size_t running = current_;
      switch_to(index, time_ns);
      pop_to(0, time_ns, state);
      switch_to(running, time_ns);
    }
  }
  // A frame that was last seen before a gap, and has no frame above that was seen after it, is
  // known until then only.
  while (!stack().empty() && top().lost_ns != 0) {
    pop(top().lost_ns, state);
  }
  while (!stack().empty()) {
    pop(time_ns, state);
  }
  stacks_.assign(1, Stack());
  current_ = 0;
  suspended_.clear();
}

} // namespace ptlens::stacks
