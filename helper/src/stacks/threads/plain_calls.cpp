// The short path of nearly all branches: calls of a function's entry, and returns to the return
// address of the innermost frame. All other branches take the path of call_builder.cpp. Both paths
// give the same result.
#include "stacks/threads/call_builder.hpp"

namespace ptlens::stacks {

// Returns true where the return of a call, or the jump of its stub, switches to another stack.
bool CallBuilder::any_switches_stack(std::span<const PairedCall> calls,
                                     const flow::CodePoints& points, const Space& space) {
  return !suspended_.empty() && std::ranges::any_of(calls, [&](const PairedCall& call) {
    const auto switches = [&](flow::BlockId block, const auto& to) {
      return switches_stack(points, block, to, space, suspended_, *facts_);
    };
    const auto behind = [&] { return points.from(call.from_id).address_behind(); };
    const auto reached = [&] { return points.to(call.to_id); };
    return (!call.is_tail() && switches(call.back, behind)) ||
           (call.stub != flow::no_block && switches(call.stub, reached));
  });
}

// The innermost frame is affected by nothing but the time of the calls.
void CallBuilder::add_paired(const PairedGroup& paired, const flow::CodePoints& points,
                             const Space& space) {
  const CallGroup& group = paired.group;
  if (any_switches_stack(paired.calls, points, space) || (!resumed_ && !is_plain())) {
    ThreadCalls::add_paired(paired, points, space);
    return;
  }
  last_ns_ = std::max(last_ns_, group.last_ns);
  if (resumed_) {
    hold(
        {.points = &points, .group = group, .space = &space, .numbering = symbolizer_->numbering()},
        paired);
    return;
  }
  if (!paired.calls.empty()) {
    Symbolizer::Labels labels = symbolizer_->labels(space, points);
    calls_.add_paired(top().call, group, paired.calls, labels);
    top().lost_ns = 0;
  }
  calls_.set_uncertainty(group.last_uncertainty);
  taken_ns_ = group.last_ns;
}

// Does what take() and add() do, while nothing but transfers between functions happens. Returns the
// number of branches that it took.
[[gnu::flatten]] std::size_t CallBuilder::take_plain(std::span<const Branch> branches,
                                                     const Space& space) {
  constexpr std::size_t ahead = 8; // branches between the prefetch for a branch and its use
  std::size_t taken = 0;
  bool plain = is_plain();
  while (plain && taken != branches.size()) {
    const Branch& branch = branches[taken];
    if (branch.kind > flow::BranchKind::indirect ||
        (leaves_indirectly(branch.kind) && suspended_.may_wait_at(branch.to))) {
      break;
    }
    if (branches.size() - taken > ahead && branches[taken + ahead].kind != flow::BranchKind::ret) {
      symbolizer_->prefetch(branches[taken + ahead]);
    }
    calls_.set_uncertainty(branch.uncertainty_ns);
    ++taken;
    if (branch.kind == flow::BranchKind::call) {
      const CodeLocation to = symbolizer_->to(space, branch);
      if (begins_call(to) && !reads_instruction_pointer(branch.to, branch.address_behind())) {
        push_callee(branch, space, to.function);
        continue;
      }
      if (to.is_stub && taken != branches.size() &&
          call_through_stub(branch, to, branches[taken], space)) {
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

// Opens a frame for the function that the branch calls, maybe through a stub.
inline void CallBuilder::push_callee(const Branch& call, const Space& space, FunctionId function) {
  push(call.time_ns, function, symbolizer_->site(space, call), call.address_behind());
}

// Ends the innermost frame where the return ends no other frame. Returns false, having done
// nothing, in all other cases.
inline bool CallBuilder::return_plainly(const Branch& ret) {
  Stack& stack = this->stack();
  if (stack.size() < 2 || !stack.local_calls.empty() || !stack.landmarks.empty()) {
    return false;
  }
  const Frame& top = stack.top();
  if (!stack.returns_to(ret.to) || top.tail || top.continued ||
      symbolizer_->returns_twice(top.function)) {
    return false;
  }
  calls_.close(top.call, ret.time_ns, top.damaged ? CallState::incomplete : CallState::complete);
  stack.frames.pop_back();
  stack.top().lost_ns = 0;
  return true;
}

// Takes a call of a stub that reaches its function by its first jump, as call() and leave_stub()
// do. Returns false, having taken neither branch, in all other cases.
inline bool CallBuilder::call_through_stub(const Branch& call, const CodeLocation& stub,
                                           const Branch& jump, const Space& space) {
  if (jump.kind != flow::BranchKind::indirect || suspended_.may_wait_at(jump.to) || !stub.entry ||
      stub.part || symbolizer_->from(space, jump) != stub.function) {
    return false;
  }
  const CodeLocation reached = symbolizer_->to(space, jump);
  if (!reached.known || reached.is_stub ||
      reads_instruction_pointer(call.to, call.address_behind())) {
    return false;
  }
  push_callee(call, space, reached.function);
  calls_.set_uncertainty(jump.uncertainty_ns);
  return true;
}

} // namespace ptlens::stacks
