// Pairs calls with their returns while a stretch of trace is followed, on a stack of the calls that
// began inside the stretch, and takes only the cases that are certain: see PairedCall. All other
// branches are listed in the run, and so are the branches by which calls began that are still open
// before such a branch, or at the end of the stretch.
#pragma once

#include "flow/runs/run_builder.hpp"
#include "flow/walk/branch_consumer.hpp"
#include "stacks/pairing/call_targets.hpp"
#include "stacks/pairing/paired_calls.hpp"
#include "stacks/transfer/transfer_rules.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ptlens::stacks {

// Returns a consumer that pairs the calls of that code.
[[nodiscard]] std::unique_ptr<flow::BranchConsumer> make_call_pairing(flow::CodeGraph& graph);

class CallPairing final : public flow::BranchConsumer {
public:
  explicit CallPairing(flow::CodeGraph& graph) : graph_(&graph), targets_(graph) {}

  void follow(flow::PacketWalker& walker) override;

  // The members that flow/walk/graph_walk.hpp asks of a Sink.
  void begin(flow::RunBuilder& run);
  void take_direct(flow::DirectBranchId id, flow::DirectBranch& branch,
                   const flow::UncertainTime& time);
  void take_conditional(flow::BlockId block, flow::BlockId reached,
                        const flow::UncertainTime& time);
  void take_return(flow::BlockId block, std::uint64_t to, flow::BlockId reached,
                   const flow::UncertainTime& time);
  void take_indirect(flow::BlockId block, flow::BranchKind kind,
                     const flow::CodeGraph::Target& target, const flow::UncertainTime& time);
  void take_system_call(const flow::SystemCall& call);
  [[nodiscard]] bool has_many() const {
    return is_full_ || paired_->calls.size() >= flow::RunBuilder::most_branches;
  }
  void end();

private:
  struct Frame {
    std::uint64_t return_address = 0;
    std::uint32_t call = 0; // index of the paired call, as far as it is known
    FunctionId function{};  // see CallTargets; 0 while the frame is a stub
  };
  // What is known of a direct branch: see DirectBranch::mark.
  enum Mark : std::uint8_t {
    unknown,
    begins_function, // certainly
    begins_stub,
    other,
  };
  // How a branch began a call: from and to where.
  struct Transfer {
    flow::Label target = 0;
    flow::Label site = 0;
    flow::BranchPointId from_id = flow::BranchPointId::none;
    flow::BranchPointId to_id = flow::BranchPointId::none;
    flow::BranchKind kind = flow::BranchKind::jump;
  };

  [[nodiscard]] std::uint32_t call_count() const {
    return static_cast<std::uint32_t>(paired_->calls.size());
  }
  [[nodiscard]] std::uint32_t system_call_count() const {
    return static_cast<std::uint32_t>(paired_->system_calls.size());
  }
  [[nodiscard]] PairedCall& call_of(const Frame& frame) { return paired_->calls[frame.call]; }
  void note(const flow::UncertainTime& time) {
    run_->count_interval(time.interval_ns);
    last_ = time;
    last_transfer_.from_id = flow::BranchPointId::none;
    is_pending_ = true;
  }
  // Takes note of a branch that began and ended no call.
  void pass_by(const Transfer& transfer) { last_transfer_ = transfer; }
  void push(const flow::UncertainTime& time, const Transfer& transfer,
            std::uint64_t return_address);
  void enter(Frame& frame, FunctionId function) {
    frame.function = function;
    if (!active_.has(function)) [[unlikely]] {
      active_.resize(2 * std::size_t{index_of(function)} + 1);
    }
    call_of(frame).inner = active_[function]++ != 0;
  }
  [[nodiscard]] Mark mark_of(flow::DirectBranch& branch);
  void take_other(flow::DirectBranchId id, flow::DirectBranch& branch,
                  const flow::UncertainTime& time);
  [[nodiscard]] bool return_from_call(flow::BlockId block, std::uint64_t to,
                                      const flow::UncertainTime& time);
  void pop(flow::BlockId back, const flow::UncertainTime& time);
  [[nodiscard]] bool leave_stub(flow::BlockId block, flow::Label target, flow::BlockId reached);
  [[nodiscard]] bool jump(const Transfer& transfer, const flow::UncertainTime& time);
  void end_group(std::uint32_t end, std::uint32_t system_end, std::uint64_t before_ns);
  [[nodiscard]] bool is_open(std::uint32_t call) const;
  void list_open_calls();
  void list(const flow::Branch& branch);

  flow::CodeGraph* graph_;
  CallTargets targets_;
  flow::RunBuilder* run_ = nullptr; // of the stretch, as the following members
  PairedCalls* paired_ = nullptr;   // of the run
  std::vector<Frame> frames_;
  IdVector<FunctionId, std::uint32_t> active_; // the number of frames
  bool in_stub_ = false;                       // the innermost frame is a stub
  std::uint32_t group_begin_ = 0;              // paired calls that belong to a group
  std::uint32_t system_begin_ = 0;             // system calls that belong to a group
  bool has_listed_ = false;                    // a branch of the stretch was listed
  bool is_pending_ = false;                    // something belongs to no group yet
  bool is_full_ = false;                       // the run has enough listed branches
  flow::UncertainTime last_;                   // of the last branch
  Transfer last_transfer_;                     // the last branch where it began and ended no call
  std::size_t usual_calls_ = 0;                // of the last run
  std::size_t usual_groups_ = 0;
  std::size_t usual_system_calls_ = 0;
};

// The following functions are inline because they are called for each branch of a trace.

inline void CallPairing::push(const flow::UncertainTime& time, const Transfer& transfer,
                              std::uint64_t return_address) {
  const std::uint32_t parent = frames_.empty() ? flow::no_label : frames_.back().call;
  frames_.push_back({.return_address = return_address, .call = call_count()});
  paired_->calls.push_back({.start_ns = time.time_ns,
                            .start_uncertainty = time.uncertainty_ns,
                            .parent = parent,
                            .target = transfer.target,
                            .site = transfer.site,
                            .from_id = transfer.from_id,
                            .to_id = transfer.to_id,
                            .kind = transfer.kind});
}

inline void CallPairing::take_direct(flow::DirectBranchId id, flow::DirectBranch& branch,
                                     const flow::UncertainTime& time) {
  note(time);
  const Mark mark = branch.mark != unknown ? static_cast<Mark>(branch.mark) : mark_of(branch);
  if (mark == other || in_stub_) [[unlikely]] {
    take_other(id, branch, time);
    return;
  }
  const flow::BranchPointId point = flow::CodePoints::id_of(id);
  push(time,
       {.target = branch.target,
        .site = branch.site,
        .from_id = point,
        .to_id = point,
        .kind = flow::BranchKind::call},
       branch.address_behind());
  if (mark == begins_stub) {
    in_stub_ = true;
  } else {
    enter(frames_.back(), targets_[branch.target].function);
  }
}

inline void CallPairing::take_conditional(flow::BlockId block, flow::BlockId reached,
                                          const flow::UncertainTime& time) {
  note(time);
  const flow::BranchKind kind = flow::BranchKind::cond;
  if (in_stub_ || !jump({.target = targets_.of(reached),
                         .site = targets_.site_of(block),
                         .from_id = flow::CodePoints::id_of(block),
                         .to_id = flow::CodePoints::id_of(reached),
                         .kind = kind},
                        time)) [[unlikely]] {
    list(graph_->points().branch(block, kind, graph_->ends(reached).begin, reached));
  }
}

inline void CallPairing::take_return(flow::BlockId block, std::uint64_t to, flow::BlockId reached,
                                     const flow::UncertainTime& time) {
  note(time);
  if (!return_from_call(block, to, time)) [[unlikely]] {
    list(graph_->points().branch(block, flow::BranchKind::ret, to, reached));
  }
}

inline void CallPairing::take_indirect(flow::BlockId block, flow::BranchKind kind,
                                       const flow::CodeGraph::Target& target,
                                       const flow::UncertainTime& time) {
  note(time);
  const bool calls = kind == flow::BranchKind::call;
  const flow::BranchPointId from_id = flow::CodePoints::id_of(block);
  const flow::BranchPointId to_id = flow::CodePoints::id_of(target.block);
  const auto begin_call = [&](flow::Label label, std::uint64_t return_address) {
    push(time,
         {.target = label,
          .site = targets_.site_of(block),
          .from_id = from_id,
          .to_id = to_id,
          .kind = kind},
         return_address);
    enter(frames_.back(), targets_[label].function);
  };
  if (in_stub_) {
    if (!calls && leave_stub(block, targets_.of(target), target.block)) [[likely]] {
      return;
    }
  } else if (calls) {
    const flow::Label label = targets_.of(target);
    const CodeLocation location = targets_[label];
    const std::uint64_t behind = graph_->ends(block).address_behind();
    if (certainly_begins_call(location) && !reads_instruction_pointer(target.address, behind))
        [[likely]] {
      begin_call(label, behind);
      return;
    }
  } else if (!frames_.empty()) {
    const flow::Label label = targets_.of(target);
    const CodeLocation location = targets_[label];
    if (targets_.ends_by_table(block, location)) {
      pass_by({.from_id = from_id, .to_id = to_id, .kind = kind});
      return;
    }
    if (targets_.ends_by_tail_call(block, location)) {
      begin_call(label, frames_.back().return_address);
      return;
    }
  }
  list(graph_->points().branch(block, kind, target.address, target.block));
}

inline void CallPairing::take_system_call(const flow::SystemCall& call) {
  const flow::UncertainTime off({call.off_ns, call.off_ns});
  const flow::UncertainTime on({call.on_ns, call.on_ns});
  note(off);
  if (frames_.empty() || in_stub_) {
    const auto [into, back] = branches_of(call, graph_->points());
    list(into);
    note(on);
    list(back);
    return;
  }
  note(on);
  const std::uint32_t inside = frames_.back().call;
  paired_->system_calls.push_back({.system_call = call, .call = inside, .before = call_count()});
  call_of(frames_.back()).outside_ns += static_cast<std::uint32_t>(call.on_ns - call.off_ns);
}

// The stub that was called jumps to its function. Returns false where it goes elsewhere.
inline bool CallPairing::leave_stub(flow::BlockId block, flow::Label target,
                                    flow::BlockId reached) {
  Frame& frame = frames_.back();
  const CodeLocation location = targets_[target];
  PairedCall& call = call_of(frame);
  if (!is_certain(location) || !targets_.ends_in_stub(block, call.target)) [[unlikely]] {
    return false;
  }
  in_stub_ = false;
  call.target = target;
  call.to_id = flow::CodePoints::id_of(reached);
  call.stub = block;
  enter(frame, location.function);
  return true;
}

// The innermost call returns, and with it the tail calls that it ended in.
inline bool CallPairing::return_from_call(flow::BlockId block, std::uint64_t to,
                                          const flow::UncertainTime& time) {
  if (frames_.empty() || in_stub_ || !returns_to(frames_.back().return_address, to)) {
    return false;
  }
  const Frame* base = &frames_.back();
  while (call_of(*base).is_tail()) [[unlikely]] {
    --base;
  }
  if ((time.time_ns - call_of(*base).start_ns) > std::numeric_limits<std::uint32_t>::max()) {
    return false;
  }
  while (&frames_.back() != base) [[unlikely]] {
    pop(block, time);
  }
  pop(block, time);
  return true;
}

inline void CallPairing::pop(flow::BlockId back, const flow::UncertainTime& time) {
  const Frame frame = frames_.back();
  frames_.pop_back();
  PairedCall& call = call_of(frame);
  const auto latency = static_cast<std::uint32_t>(time.time_ns - call.start_ns);
  call.latency_ns = latency;
  call.end_uncertainty = time.uncertainty_ns;
  call.back = back;
  --active_[frame.function];
  if (!frames_.empty()) {
    PairedCall& caller = call_of(frames_.back());
    caller.children_ns += latency;
    caller.outside_ns += call.outside_ns;
  }
}

} // namespace ptlens::stacks
