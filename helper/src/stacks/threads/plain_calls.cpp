// The short way of nearly all branches: calls that go to a function's entry and returns to where
// the innermost frame returns. Whatever else comes goes the way of call_builder.cpp, and both tell
// the same.
#include "stacks/threads/call_builder.hpp"

namespace ptlens::stacks {

// One of them returns, or jumps from a stub, to where another stack waits, by code that has
// replaced the stack.
bool CallBuilder::change_stack(std::span<const flow::ReturnedCall> calls,
                               const flow::CodePoints& points, const Space& space) {
  return !suspended_.empty() && std::ranges::any_of(calls, [&](const flow::ReturnedCall& call) {
    const auto behind = [&] { return points.exit(call.exit).address_behind(); };
    const auto reached = [&] { return points.arrival(call.arrival); };
    return (!call.is_tail() && changes_stack(points, call.back, behind, space)) ||
           (call.stub != flow::no_block && changes_stack(points, call.stub, reached, space));
  });
}

// They concern the innermost frame by their time alone.
void CallBuilder::add_returned(const flow::ReturnedCalls& part,
                               std::span<const flow::ReturnedCall> calls,
                               const flow::CodePoints& points, const Space& space) {
  if (change_stack(calls, points, space) || (!lookahead_ && !is_plain())) {
    ThreadCalls::add_returned(part, calls, points, space);
    return;
  }
  last_ns_ = std::max(last_ns_, part.last_ns);
  if (lookahead_) {
    hold({.points = &points, .part = part, .space = &space, .numbering = symbolizer_->numbering()},
         calls);
    return;
  }
  if (!calls.empty()) {
    Symbolizer::Returned names = symbolizer_->returned(space, points);
    log_.take_returned(top().call, part, calls, names);
    top().lost_ns = 0;
  }
  log_.set_uncertainty(part.last_uncertainty);
  taken_ns_ = part.last_ns;
}

// As take() and add(), while nothing but transfers between functions happens. How many were taken.
[[gnu::flatten]] std::size_t CallBuilder::take_plain(std::span<const Branch> branches,
                                                     const Space& space) {
  constexpr std::size_t ahead = 8; // what lies between a question about a branch and its answer
  std::size_t taken = 0;
  bool plain = is_plain();
  while (plain && taken != branches.size()) {
    const Branch& branch = branches[taken];
    if (branch.kind > flow::BranchKind::indirect ||
        (leaves_indirectly(branch) && suspended_.may_wait_at(branch.to))) {
      break;
    }
    if (branches.size() - taken > ahead && branches[taken + ahead].kind != flow::BranchKind::ret) {
      symbolizer_->prefetch(branches[taken + ahead]);
    }
    log_.set_uncertainty(branch.uncertainty_ns);
    ++taken;
    if (branch.kind == flow::BranchKind::call) {
      const Place place = symbolizer_->to(space, branch);
      if (enters(place) && branch.to != branch.from + branch.from_size) {
        push_callee(branch, space, place.function);
        continue;
      }
      if (place.folded && taken != branches.size() &&
          call_through_stub(branch, place, branches[taken], space)) {
        ++taken;
        continue;
      }
    } else if (branch.kind == flow::BranchKind::ret && return_plainly(branch)) {
      continue;
    }
    transfer(branch, space);
    plain = is_plain();
  }
  if (taken != 0) {
    taken_ns_ = branches[taken - 1].time_ns;
    last_ns_ = std::max(last_ns_, taken_ns_);
  }
  return taken;
}

// A frame for what the branch, maybe through a stub, calls.
inline void CallBuilder::push_callee(const Branch& call, const Space& space,
                                     std::uint32_t function) {
  push(call.time_ns, function, symbolizer_->site(space, call), call.from + call.from_size);
}

// Ends the innermost frame, and no other, where that is all that the return does.
inline bool CallBuilder::return_plainly(const Branch& ret) {
  Stack& stack = this->stack();
  if (stack.size() < 2 || !stack.local_calls.empty() || !stack.landmarks.empty()) {
    return false;
  }
  const Frame& top = stack.top();
  if (!stack.returns_to(ret.to) || top.tail || symbolizer_->returns_twice(top.function)) {
    return false;
  }
  log_.close(top.call, ret.time_ns, top.damaged ? CallState::incomplete : CallState::complete);
  stack.frames.pop_back();
  stack.top().lost_ns = 0;
  return true;
}

// A stub that reaches its function by its first jump: as call() and leave_stub(). Takes none of
// both branches in where it is anything else.
inline bool CallBuilder::call_through_stub(const Branch& call, const Place& stub,
                                           const Branch& jump, const Space& space) {
  if (jump.kind != flow::BranchKind::indirect || suspended_.may_wait_at(jump.to) || !stub.entry ||
      stub.part || symbolizer_->from(space, jump) != stub.function) {
    return false;
  }
  const Place reached = symbolizer_->to(space, jump);
  if (!reached.known || reached.folded || call.to == call.from + call.from_size) {
    return false;
  }
  push_callee(call, space, reached.function);
  log_.set_uncertainty(jump.uncertainty_ns);
  return true;
}

} // namespace ptlens::stacks
