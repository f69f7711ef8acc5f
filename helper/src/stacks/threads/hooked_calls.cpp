#include "stacks/threads/hooked_calls.hpp"

#include <algorithm>
#include <cmath>

namespace ptlens::stacks {

std::uint64_t HookCost::most_inside(std::uint64_t pause_ns) const {
  constexpr std::uint64_t cold_factor = 4;
  constexpr std::uint64_t short_ns = 10'000;
  const std::uint64_t least = cold_factor * inside;
  if (pause_ns <= short_ns) {
    return least;
  }
  constexpr std::uint64_t long_ns = 100'000'000;
  const double tenfolds = std::log10(static_cast<double>(std::min(pause_ns, long_ns)) / short_ns);
  return static_cast<std::uint64_t>(std::lround((1 + tenfolds) * static_cast<double>(least)));
}

// A hook also looks its function up, in memory that it alone uses.
std::uint64_t& HookedCalls::left_ns(FunctionId function) {
  if (!left_ns_.has(function)) {
    left_ns_.resize(
        std::max<std::size_t>(std::size_t{index_of(function)} + 1, 2 * left_ns_.size()));
  }
  return left_ns_[function];
}

void HookedCalls::pop(std::uint64_t time_ns, CallState state) {
  const Frame frame = stack_.back();
  stack_.pop_back();
  left_ns(frame.function) = time_ns;
  if (frame.part) {
    if (!stack_.empty()) {
      stack_.back().hooks_ns += frame.hooks_ns + cost_.call();
    }
    return;
  }
  constexpr std::uint64_t most = UINT32_MAX;
  const std::uint64_t pause_ns = std::max(frame.pause_ns, time_ns - std::min(time_ns, last_ns_));
  const std::uint64_t uncertainty = std::min(most, frame.hooks_ns + cost_.most_inside(pause_ns));
  calls_.set_uncertainty(static_cast<std::uint32_t>(uncertainty));
  calls_.close(frame.call, time_ns, frame.gap ? CallState::incomplete : state);
  calls_.set_uncertainty(0);
  if (!stack_.empty()) {
    stack_.back().hooks_ns += frame.hooks_ns + cost_.call();
  }
}

void HookedCalls::end_gap(std::uint64_t time_ns) {
  if (in_gap_) {
    in_gap_ = false;
    if (time_ns > last_ns_) {
      lost_ns_ += time_ns - last_ns_;
      lost_.emplace_back(last_ns_, time_ns);
    }
  }
}

void HookedCalls::enter(const Hook& hook) {
  end_gap(hook.time_ns);
  // They were left without an exit: after the thread's last hook.
  while (!stack_.empty() && stack_.back().depth >= hook.depth) {
    pop(last_ns_, CallState::unwound);
  }
  Frame frame{.function = hook.function,
              .depth = hook.depth,
              .pause_ns = hook.time_ns - std::min(hook.time_ns, left_ns(hook.function))};
  const bool same = !stack_.empty() && stack_.back().function == hook.function;
  if (same && (hook.part || stack_.back().stub)) {
    frame.part = true;
    frame.call = stack_.back().call;
    frame.gap = stack_.back().gap;
  } else {
    frame.call = calls_.open(hook.function, innermost(), SiteId::none, hook.time_ns, false);
    frame.stub = hook.stub;
  }
  if (!stack_.empty()) {
    stack_.back().stub = false;
  }
  stack_.push_back(frame);
}

void HookedCalls::leave(const Hook& hook) {
  end_gap(hook.time_ns);
  while (!stack_.empty() && stack_.back().depth > hook.depth) {
    pop(last_ns_, CallState::unwound);
  }
  if (!stack_.empty() && stack_.back().depth == hook.depth) {
    if (stack_.back().function == hook.function) {
      pop(hook.time_ns, CallState::complete);
      return;
    }
    pop(last_ns_, CallState::unwound);
  }
  if (hook.returns_twice) {
    return; // longjmp came back to it
  }
  // Entered before the thread's first hook (a forked process begins inside its parent's calls), or
  // in a gap.
  const std::uint64_t start = stack_.empty() ? first_ns_ : last_ns_;
  const OpenCallId call = calls_.open(hook.function, innermost(), SiteId::none, start, false);
  calls_.close(call, hook.time_ns, CallState::incomplete);
}

void HookedCalls::add_gap() {
  for (Frame& frame : stack_) {
    frame.gap = true;
  }
  in_gap_ = true;
  ++gaps_;
}

void HookedCalls::finish(std::uint64_t end_ns, bool exited) {
  while (!stack_.empty()) {
    pop(std::max(end_ns, last_ns_), exited ? CallState::unwound : CallState::incomplete);
  }
}

} // namespace ptlens::stacks
