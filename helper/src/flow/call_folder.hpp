// Folds the branches of a stretch of trace into calls that came back, as far as they are beyond
// doubt (see ReturnedCall), on a stack of those that were called inside the stretch. Whatever else
// comes, and the end, is told by branches, those by which the calls that are still open began
// before it.
#pragma once

#include "flow/branches/run_builder.hpp"
#include "flow/code/code_graph.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace ptlens::flow {

class CallFolder {
public:
  // A stretch begins. Both must outlive it.
  void begin(CodeGraph& graph, RunBuilder& run) {
    graph_ = &graph;
    run_ = &run;
    part_begin_ = returned_end();
    told_ = false;
    waits_ = false;
    full_ = false;
  }
  // The step of that number happens.
  void pass_step(std::uint32_t number, const Moment& moment);
  // The way ends by a branch of that kind, to an address at which the way `arrival` begins;
  // no_block where none is known.
  void end_way(BlockIndex way, BranchKind kind, std::uint64_t to, BlockIndex arrival,
               const Moment& moment);
  // Enough for a run was told.
  [[nodiscard]] bool has_many() const { return full_ || run_->has_many_returned(); }
  // The stretch ends.
  void end();

private:
  struct Frame {
    std::uint64_t return_address = 0;
    std::uint32_t call = 0;     // index of the run's returned calls: as far as it is known
    std::uint32_t function = 0; // as Target::function; 0 while it is a stub
  };

  [[nodiscard]] std::uint32_t returned_end() const {
    return static_cast<std::uint32_t>(run_->returned().size());
  }
  [[nodiscard]] ReturnedCall& call_of(const Frame& frame) { return run_->returned()[frame.call]; }
  void note(const Moment& moment) {
    run_->count_width(moment.width_ns);
    last_ = moment;
    last_exit_ = 0;
    waits_ = true;
  }
  // The branch began and ended no call.
  void pass_by(std::uint32_t exit, std::uint32_t arrival, BranchKind kind) {
    last_exit_ = exit;
    last_arrival_ = arrival;
    last_kind_ = kind;
  }
  void push(const Moment& moment, std::uint32_t target, std::uint32_t exit, std::uint32_t arrival,
            BranchKind kind, std::uint64_t return_address);
  void enter(Frame& frame, std::uint32_t function) {
    frame.function = function;
    if (function >= active_.size()) [[unlikely]] {
      active_.resize(2 * std::size_t{function} + 1);
    }
    call_of(frame).inner = active_[function]++ != 0;
  }
  [[nodiscard]] bool through_stub(BlockIndex way, std::uint64_t to, BlockIndex arrival);
  [[nodiscard]] bool jumps(std::uint32_t target, std::uint32_t exit, std::uint32_t arrival,
                           BranchKind kind, const Moment& moment);
  [[nodiscard]] bool returns(BlockIndex way, std::uint64_t to, const Moment& moment);
  void pop(BlockIndex back, const Moment& moment);
  void end_part(std::uint32_t end, std::uint64_t before_ns);
  void tell_open();
  void tell(const Branch& branch); // which happens now

  CodeGraph* graph_ = nullptr;
  RunBuilder* run_ = nullptr;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> active_; // frames by function
  bool in_stub_ = false;              // the innermost frame is one
  std::uint32_t part_begin_ = 0;      // returned calls of the run before the part
  bool told_ = false;                 // anything in the stretch by branches
  bool waits_ = false;                // something that is not in a part yet
  bool full_ = false;                 // the run, of branches
  Moment last_;                       // of the last branch
  std::uint32_t last_exit_ = 0;       // its numbers where it began and ended no call
  std::uint32_t last_arrival_ = 0;
  BranchKind last_kind_ = BranchKind::jump;
};

// Here because they are called for each branch of a trace.

inline void CallFolder::push(const Moment& moment, std::uint32_t target, std::uint32_t exit,
                             std::uint32_t arrival, BranchKind kind, std::uint64_t return_address) {
  const std::uint32_t parent = frames_.empty() ? no_target : frames_.back().call;
  frames_.push_back({.return_address = return_address, .call = returned_end()});
  run_->returned().push_back({.start_ns = moment.time_ns,
                              .start_uncertainty = moment.uncertainty_ns,
                              .parent = parent,
                              .target = target,
                              .site = graph_->site_of(exit),
                              .exit = exit,
                              .arrival = arrival,
                              .kind = kind});
}

inline void CallFolder::pass_step(std::uint32_t number, const Moment& moment) {
  note(moment);
  const DirectBranch& step = graph_->step(number);
  const std::uint32_t exit = CodePoints::number_of_step(number);
  if (!in_stub_) [[likely]] {
    const std::uint32_t target_number = graph_->target_of_step(number);
    const Target& target = graph_->target(target_number);
    if (step.kind == BranchKind::call) {
      if (!step.returns) {
        pass_by(exit, exit, step.kind);
        return;
      }
      if (target.enters() || target.stub) {
        push(moment, target_number, exit, exit, step.kind, step.address_behind());
        in_stub_ = target.stub;
        if (!in_stub_) {
          enter(frames_.back(), target.function);
        }
        return;
      }
    } else if (jumps(target_number, exit, exit, step.kind, moment)) {
      return;
    }
  }
  tell(graph_->points().branch_of_step(number));
}

inline void CallFolder::end_way(BlockIndex way, BranchKind kind, std::uint64_t to,
                                BlockIndex arrival, const Moment& moment) {
  note(moment);
  const std::uint32_t exit = CodePoints::number_of_way(way);
  if (kind == BranchKind::ret) {
    if (returns(way, to, moment)) [[likely]] {
      return;
    }
  } else if (in_stub_) {
    if (kind == BranchKind::indirect && through_stub(way, to, arrival)) {
      return;
    }
  } else if (kind == BranchKind::call) {
    const std::uint32_t target_number = graph_->target_gone_to(to);
    const Target& target = graph_->target(target_number);
    const std::uint64_t behind = graph_->ends(way).address_behind();
    if (target.enters() && to != behind) {
      push(moment, target_number, exit, CodePoints::number_of_way(arrival), kind, behind);
      enter(frames_.back(), target.function);
      return;
    }
  } else if (kind == BranchKind::cond) {
    if (jumps(graph_->target_of_way(arrival), exit, CodePoints::number_of_way(arrival), kind,
              moment)) {
      return;
    }
  } else if (!frames_.empty()) {
    if (graph_->ends_by_table(way, graph_->target(graph_->target_gone_to(to)))) {
      pass_by(exit, CodePoints::number_of_way(arrival), kind);
      return;
    }
  }
  tell(graph_->points().branch_of_way(way, kind, to, arrival));
}

// The innermost call returns, and with it the tail calls that it ended in.
inline bool CallFolder::returns(BlockIndex way, std::uint64_t to, const Moment& moment) {
  if (frames_.empty() || in_stub_ || frames_.back().return_address != to) {
    return false;
  }
  const Frame* base = &frames_.back();
  while (call_of(*base).is_tail()) [[unlikely]] {
    --base;
  }
  if ((moment.time_ns - call_of(*base).start_ns) > std::numeric_limits<std::uint32_t>::max()) {
    return false;
  }
  while (&frames_.back() != base) [[unlikely]] {
    pop(way, moment);
  }
  pop(way, moment);
  return true;
}

inline void CallFolder::pop(BlockIndex back, const Moment& moment) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  ReturnedCall& call = call_of(frame);
  const auto latency = static_cast<std::uint32_t>(moment.time_ns - call.start_ns);
  call.latency_ns = latency;
  call.end_uncertainty = moment.uncertainty_ns;
  call.back = back;
  --active_[frame.function];
  if (!frames_.empty()) {
    call_of(frames_.back()).children_ns += latency;
  }
}

} // namespace ptlens::flow
