// Ends of calls.
#include "synth/call_stack.hpp"

namespace ptlens::ptsim::synth {

// What is left of a state where part of the call is not in the trace.
CallState CallStack::seen_state(const Frame& frame, CallState state, bool end_seen) const {
  if (!frame.observed || (!frame.seen && !end_seen)) {
    return frame.seen ? CallState::incomplete : CallState::lost;
  }
  const bool whole =
      frame.kind != Frame::Kind::root && frame.seen && end_seen && frame.losses == losses_;
  return whole ? state : CallState::incomplete;
}

void CallStack::close(CallState state, std::uint64_t now, bool end_seen) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  if (frame.kind == Frame::Kind::interruption) {
    --interruptions_;
    if (!frames_.empty()) {
      frames_.back().children += frame.children;
    }
    return;
  }
  ++ended_;
  if (!frames_.empty()) {
    frames_.back().children += now - frame.start;
  }
  const bool never_entered = frame.kind == Frame::Kind::root && !frame.observed;
  if (never_entered) {
    return;
  }
  const EndedCall call{tid_,
                       &frame,
                       seen_state(frame, state, end_seen),
                       frames_.size() - interruptions_,
                       now,
                       off_cpu_ns_ - frame.off_cpu};
  for (CallSink* sink : sinks_) {
    sink->ended(call);
  }
}

void CallStack::returned(std::uint64_t now, bool end_seen) {
  while (frames_.back().kind == Frame::Kind::tail_call) {
    close(CallState::complete, now, end_seen);
  }
  close(CallState::complete, now, end_seen);
  if (!lost_ && !frames_.empty()) {
    frames_.back().observed = true;
  }
}

void CallStack::unwind_to(std::size_t size, std::uint64_t now) {
  while (frames_.size() > size) {
    close(CallState::unwound, now, true);
  }
}

void CallStack::finish(bool exited, std::uint64_t now) {
  while (!frames_.empty()) {
    close(exited ? CallState::unwound : CallState::incomplete, now, true);
  }
  if (lost_) {
    end_loss(now);
  }
}

Frame CallStack::end_interruption() {
  const Frame frame = frames_.back();
  close(CallState::complete, 0, true);
  if (!lost_ && !frames_.empty()) {
    frames_.back().observed = true;
  }
  return frame;
}

void CallStack::begin_loss(std::uint64_t now, std::string_view reason) {
  lost_ = true;
  ++losses_;
  loss_begin_ = now;
  loss_reason_ = reason;
}

void CallStack::end_loss(std::uint64_t now) {
  lost_ = false;
  if (!frames_.empty()) {
    frames_.back().observed = true;
  }
  for (CallSink* sink : sinks_) {
    sink->lost(tid_, loss_begin_, now, loss_reason_);
  }
}

} // namespace ptlens::ptsim::synth
