// What is rarer than calls and returns.
#include "flow/call_folder.hpp"

namespace ptlens::flow {

// The stub that was called jumps to what it stands for. False where it goes elsewhere.
bool CallFolder::through_stub(BlockIndex way, std::uint64_t to, BlockIndex arrival) {
  Frame& frame = frames_.back();
  const std::uint32_t number = graph_->target_gone_to(to);
  const Target& target = graph_->target(number);
  ReturnedCall& call = call_of(frame);
  if (!target.lands || !graph_->ends_in_stub(way, call.target)) {
    return false;
  }
  in_stub_ = false;
  call.target = number;
  call.arrival = CodePoints::number_of_way(arrival);
  call.stub = way;
  enter(frame, target.function);
  return true;
}

// A direct jump: a tail call, maybe through a stub, or to another part of the innermost call's
// function. False where it is not known which function that is, or what it jumps to.
bool CallFolder::jumps(std::uint32_t number, std::uint32_t exit, std::uint32_t arrival,
                       BranchKind kind, const Moment& moment) {
  const Target target = graph_->target(number);
  const bool stub = exit % 2 != 0 && target.stub; // by a step
  if (frames_.empty() || !(target.lands || stub)) {
    return false;
  }
  if (!stub && (!target.entry || target.function == frames_.back().function)) {
    pass_by(exit, arrival, kind);
    return true;
  }
  if (target.part) {
    return false;
  }
  push(moment, number, exit, arrival, kind, frames_.back().return_address);
  in_stub_ = stub;
  if (!stub) {
    enter(frames_.back(), target.function);
  }
  return true;
}

// The returned calls that are in no part yet, up to there; what follows is not before that time.
void CallFolder::end_part(std::uint32_t end, std::uint64_t before_ns) {
  if (end != part_begin_) {
    run_->add_part({.begin = part_begin_, .end = end, .last_ns = before_ns});
  }
}

// What is open, with the returned calls that lie between.
void CallFolder::tell_open() {
  for (const Frame& frame : frames_) {
    const ReturnedCall& call = call_of(frame);
    end_part(frame.call, call.start_ns);
    run_->add_opening(call, graph_->points());
    part_begin_ = frame.call + 1;
    if (frame.function != 0) {
      --active_[frame.function];
    }
  }
  frames_.clear();
  in_stub_ = false;
}

// By itself: it may end what was opened before the stretch, or go anywhere.
void CallFolder::tell(const Branch& branch) {
  tell_open();
  end_part(returned_end(), last_.time_ns);
  part_begin_ = returned_end();
  run_->add_told(timed(branch, last_.time_ns, last_.uncertainty_ns));
  full_ = run_->has_many();
  told_ = true;
  waits_ = false;
}

void CallFolder::end() {
  tell_open();
  if (waits_) {
    run_->add_part({.begin = part_begin_,
                    .end = returned_end(),
                    .last_ns = last_.time_ns,
                    .last_uncertainty = last_.uncertainty_ns,
                    .last_exit = last_exit_,
                    .last_arrival = last_arrival_,
                    .last_kind = last_kind_});
  }
  if (told_ || waits_) {
    run_->forget_held();
  }
}

} // namespace ptlens::flow
