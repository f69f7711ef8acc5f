// Switches between goroutines. Calls that are open when a thread leaves a goroutine are incomplete:
// they last at least until then. Where the thread continues with a goroutine, its frames become
// known as they return. They are not counted as calls, because their calls were counted when they
// began; they are only the callers of what follows.
#include "stacks/threads/call_builder.hpp"

#include <algorithm>

namespace ptlens::stacks {

// gogo jumps to where a goroutine was left.
void CallBuilder::continue_goroutine(const Branch& branch, const Space& space) {
  const std::vector<Frame>& frames = stack().frames;
  const auto base = static_cast<std::size_t>(base_of(frames) - frames.data());
  const GoRole caller = base == 0 ? GoRole::none : symbolizer_->go_role(frames[base - 1].function);
  const CodeLocation to = symbolizer_->to(space, branch);
  const bool same = caller == GoRole::grows || caller == GoRole::recovers;
  if (same && continue_same_goroutine(branch, space, to)) {
    return;
  }
  ++goroutine_switches_;
  leave_goroutine(branch.time_ns);
  if (to.entry) {
    push(branch.time_ns, to.function, SiteId::none, 0); // a new goroutine
  } else {
    push_damaged(branch.time_ns, to.function).continued = true;
  }
}

// Returns false where the frame that control goes back to began before the trace.
bool CallBuilder::continue_same_goroutine(const Branch& branch, const Space& space,
                                          const CodeLocation& to) {
  if (arrive_in_own_stack(branch, space, to)) {
    return true;
  }
  const std::size_t size = stack().with_function(to.function);
  if (size == 0) {
    return false;
  }
  // Which activation of a recursive function recovered is not known yet.
  const std::size_t outer = stack().with_function(to.function, size - 1);
  std::vector<Frame>& frames = stack().frames;
  for (std::size_t at = outer == 0 ? size : 0; at < size; ++at) {
    frames[at].damaged = frames[at].damaged || frames[at].function == to.function;
  }
  pop_to(size, branch.time_ns, CallState::unwound);
  return true;
}

// Ends all frames: those of the scheduler, which never return, and the goroutine's, which were left
// when the scheduler began.
void CallBuilder::leave_goroutine(std::uint64_t time_ns) {
  const std::vector<Frame>& frames = stack().frames;
  std::size_t left = frames.size();
  while (left > 0 && symbolizer_->go_role(frames[left - 1].function) != GoRole::leaves) {
    --left;
  }
  const std::span<const Frame> of_goroutine = without_innermost(std::span(frames).first(left));
  const std::size_t remaining = of_goroutine.size();
  if (left == 0) {
    pop_to(0, time_ns, CallState::unwound);
    return;
  }
  const OpenCallId scheduler = frames[remaining].call;
  const std::uint64_t left_ns = calls_.start(scheduler);
  calls_.reparent(scheduler, OpenCallId::none);
  pop_to(remaining, time_ns, CallState::unwound);
  while (!stack().empty()) {
    pop(left_ns, CallState::incomplete);
  }
}

} // namespace ptlens::stacks
