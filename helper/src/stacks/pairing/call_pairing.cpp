// The loop over a stretch, and the cases that are rarer than calls and returns. These are not
// inlined into the loop.
#include "stacks/pairing/call_pairing.hpp"

#include "flow/walk/graph_walk.hpp"

#include <algorithm>
#include <cstddef>

namespace ptlens::stacks {

std::unique_ptr<flow::BranchConsumer> make_call_pairing(flow::CodeGraph& graph) {
  return std::make_unique<CallPairing>(graph);
}

void CallPairing::follow(flow::PacketWalker& walker) {
  walker.follow_packets(*this);
}

[[gnu::noinline]] void CallPairing::begin(flow::RunBuilder& run) {
  run_ = &run;
  if (!run.consumed()) {
    auto paired = std::make_unique<PairedCalls>();
    paired->calls.reserve(usual_calls_); // the next run is likely to be as long
    paired->groups.reserve(usual_groups_);
    paired->system_calls.reserve(usual_system_calls_);
    run.consumed() = std::move(paired);
  }
  paired_ = static_cast<PairedCalls*>(run.consumed().get()); // this class alone attaches any
  group_begin_ = call_count();
  system_begin_ = system_call_count();
  has_listed_ = false;
  is_pending_ = false;
  is_full_ = false;
}

// Finds out what the branch begins, and gives it its labels.
[[gnu::noinline]] CallPairing::Mark CallPairing::mark_of(flow::DirectBranch& branch) {
  const CodeLocation to = targets_[targets_.of(branch)];
  static_cast<void>(targets_.site_of(branch));
  const bool calls = branch.kind == flow::BranchKind::call && branch.returns;
  const Mark mark = calls && certainly_begins_call(to) ? begins_function
                    : calls && is_stub_entry(to)       ? begins_stub
                                                       : other;
  branch.mark = mark;
  return mark;
}

// Takes a direct branch that does not certainly begin a call.
[[gnu::noinline]] void CallPairing::take_other(flow::DirectBranchId id, flow::DirectBranch& branch,
                                               const flow::UncertainTime& time) {
  const flow::BranchPointId point = flow::CodePoints::id_of(id);
  const Transfer transfer{.target = branch.target,
                          .site = branch.site,
                          .from_id = point,
                          .to_id = point,
                          .kind = branch.kind};
  if (!in_stub_ && branch.kind == flow::BranchKind::call && !branch.returns) {
    pass_by(transfer);
    return;
  }
  if (in_stub_ || branch.kind == flow::BranchKind::call || !jump(transfer, time)) {
    list(graph_->points().branch(id));
  }
}

// Takes a direct jump: a tail call, maybe through a stub, or a jump that stays in the function of
// the innermost call. Returns false where that function is not known, or what the jump goes to.
[[gnu::noinline]] bool CallPairing::jump(const Transfer& transfer,
                                         const flow::UncertainTime& time) {
  const CodeLocation to = targets_[transfer.target];
  const bool to_stub = flow::CodePoints::is_direct(transfer.from_id) && is_stub_entry(to);
  if (frames_.empty() || !(is_certain(to) || to_stub)) {
    return false;
  }
  if (!to_stub && !is_tail_call(to, frames_.back().function)) {
    pass_by(transfer);
    return true;
  }
  if (to.part) {
    return false;
  }
  push(time, transfer, frames_.back().return_address);
  in_stub_ = to_stub;
  if (!to_stub) {
    enter(frames_.back(), to.function);
  }
  return true;
}

// Ends a group with the calls before these indices; the branch that follows is not before that
// time.
void CallPairing::end_group(std::uint32_t end, std::uint32_t system_end, std::uint64_t before_ns) {
  if (end != group_begin_) {
    paired_->groups.push_back({.branches = run_->branch_count(),
                               .begin = group_begin_,
                               .end = end,
                               .system_begin = system_begin_,
                               .system_end = system_end,
                               .last_ns = before_ns});
  }
  group_begin_ = end;
  system_begin_ = system_end;
}

bool CallPairing::is_open(std::uint32_t call) const {
  const auto found = std::ranges::lower_bound(frames_, call, {}, &Frame::call);
  return found != frames_.end() && found->call == call;
}

// Lists the branches that began the open calls, and the system calls directly in them, with the
// paired calls between them.
void CallPairing::list_open_calls() {
  std::vector<PairedSystemCall>& system_calls = paired_->system_calls;
  auto next = static_cast<std::size_t>(system_begin_);
  std::uint32_t kept = system_begin_; // of the system calls: those of paired calls
  const auto list_system_calls = [&](std::uint32_t before) {
    for (; next != system_calls.size() && system_calls[next].before <= before; ++next) {
      const PairedSystemCall each = system_calls[next];
      if (!is_open(each.call)) {
        system_calls[kept++] = each;
        continue;
      }
      end_group(each.before, kept, each.system_call.off_ns);
      for (const flow::Branch& branch : branches_of(each.system_call, graph_->points())) {
        run_->add_plain(branch);
      }
    }
  };
  for (const Frame& frame : frames_) {
    list_system_calls(frame.call);
    const PairedCall& call = call_of(frame);
    end_group(frame.call, kept, call.start_ns);
    append_opening(call, graph_->points(), run_->branches());
    group_begin_ = frame.call + 1;
    if (frame.function != FunctionId{}) {
      --active_[frame.function];
    }
  }
  list_system_calls(call_count());
  system_calls.resize(kept);
  frames_.clear();
  in_stub_ = false;
}

// Lists the branch that happens now: it may end a call from before the stretch, or go anywhere.
[[gnu::noinline]] void CallPairing::list(const flow::Branch& branch) {
  list_open_calls();
  end_group(call_count(), system_call_count(), last_.time_ns);
  run_->add_plain(timed(branch, last_.time_ns, last_.uncertainty_ns));
  is_full_ = run_->branch_count() + call_count() >= flow::RunBuilder::most_branches;
  has_listed_ = true;
  is_pending_ = false;
}

[[gnu::noinline]] void CallPairing::end() {
  list_open_calls();
  if (is_pending_) {
    paired_->groups.push_back({.branches = run_->branch_count(),
                               .begin = group_begin_,
                               .end = call_count(),
                               .system_begin = system_begin_,
                               .system_end = system_call_count(),
                               .last_ns = last_.time_ns,
                               .last_uncertainty = last_.uncertainty_ns,
                               .last_from_id = last_transfer_.from_id,
                               .last_to_id = last_transfer_.to_id,
                               .last_kind = last_transfer_.kind});
  }
  if (has_listed_ || is_pending_) {
    run_->drop_held();
  }
  usual_calls_ = paired_->calls.size();
  usual_groups_ = paired_->groups.size();
  usual_system_calls_ = paired_->system_calls.size();
}

} // namespace ptlens::stacks
