// Ends runs and hands them out.
#include "flow/runs/run_builder.hpp"

#include <utility>

namespace ptlens::flow {

// Emits the held branch, which comes after all branches so far.
void RunBuilder::release() {
  if (std::exchange(has_held_, false) && held_behind_ == run_.branches.size()) {
    run_.branches.push_back(held_);
    ++open_;
  }
}

void RunBuilder::break_run(perfdata::Running owner) {
  close_open(last_.latest);
  release();
  hand_out(owner);
}

void RunBuilder::cut_run(perfdata::Running owner) {
  close_open(last_.latest);
  const bool keeps_held = held().has_value();
  hand_out(owner);
  has_held_ = keeps_held;
  held_behind_ = run_.branches.size();
}

void RunBuilder::hand_out(perfdata::Running owner) {
  if (run_.empty() && run_.marks.empty() && run_.instructions == 0) {
    return;
  }
  run_.pid = owner.pid;
  run_.tid = owner.tid;
  run_.cpu = cpu_;
  run_.code = code_;
  run_.numbering = numbering_;
  run_.points = points_;
  ready_.push_back(std::exchange(run_, Run{}));
  run_.branches.reserve(ready_.back().branches.size()); // the next is likely to be as long
  open_ = 0;
}

std::optional<Run> RunBuilder::take() {
  if (ready_next_ == ready_.size()) {
    ready_.clear();
    ready_next_ = 0;
    return std::nullopt;
  }
  return std::move(ready_[ready_next_++]);
}

} // namespace ptlens::flow
