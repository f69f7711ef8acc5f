// Converts paired calls to branches.
#include "stacks/pairing/paired_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace ptlens::stacks {
namespace {

void append_return(const PairedCall& call, const flow::CodePoints& points,
                   std::vector<flow::Branch>& branches) {
  const std::uint64_t behind = points.from(call.from_id).address_behind();
  branches.push_back(timed(points.branch(call.back, flow::BranchKind::ret, behind),
                           call.start_ns + call.latency_ns, call.end_uncertainty));
}

} // namespace

std::uint64_t PairedCalls::first_ns() const {
  const CallGroup& group = groups.front();
  return group.begin == group.end ? group.last_ns : calls[group.begin].start_ns;
}

void PairedCalls::shift(std::ptrdiff_t count) {
  for (CallGroup& group : groups) {
    group.branches += static_cast<std::size_t>(count);
  }
}

const PairedCalls* paired_calls(const flow::Run& run) {
  return run.has_consumed() ? dynamic_cast<const PairedCalls*>(run.consumed.get()) : nullptr;
}

void append_opening(const PairedCall& call, const flow::CodePoints& points,
                    std::vector<flow::Branch>& branches) {
  const auto append = [&](const flow::Branch& branch) {
    branches.push_back(timed(branch, call.start_ns, call.start_uncertainty));
  };
  if (call.stub == flow::no_block) {
    append(points.branch(call.from_id, call.to_id, call.kind));
    return;
  }
  append(points.branch(call.from_id, call.from_id, call.kind)); // direct: both ends have one id
  append(points.branch(flow::CodePoints::id_of(call.stub), call.to_id, flow::BranchKind::indirect));
}

void append_branches(const PairedGroup& paired, const flow::CodePoints& points,
                     std::vector<flow::Branch>& branches) {
  const CallGroup& group = paired.group;
  std::vector<std::uint32_t> open; // indices in PairedCalls::calls
  const auto close_all_inside = [&](std::uint32_t call) {
    const auto found = std::ranges::find(open, call);
    const std::ptrdiff_t depth = found == open.end() ? 0 : found - open.begin() + 1;
    for (; std::ssize(open) > depth; open.pop_back()) {
      if (const PairedCall& last = paired.calls[open.back() - group.begin]; !last.is_tail()) {
        append_return(last, points, branches);
      }
    }
  };
  auto system_call = paired.system_calls.begin();
  const auto append_system_calls = [&](std::uint32_t before) {
    for (; system_call != paired.system_calls.end() && system_call->before <= before;
         ++system_call) {
      close_all_inside(system_call->call);
      for (const flow::Branch& branch : branches_of(system_call->system_call, points)) {
        branches.push_back(branch);
      }
    }
  };
  std::uint32_t index = group.begin;
  for (const PairedCall& call : paired.calls) {
    append_system_calls(index);
    close_all_inside(call.parent);
    append_opening(call, points, branches);
    open.push_back(index++);
  }
  append_system_calls(index);
  close_all_inside(flow::no_label);
  if (group.last_from_id != flow::BranchPointId::none) {
    branches.push_back(timed(points.branch(group.last_from_id, group.last_to_id, group.last_kind),
                             group.last_ns, group.last_uncertainty));
  }
}

void list_all_branches(flow::Run& run) {
  const PairedCalls* const paired = paired_calls(run);
  if (paired == nullptr) {
    return;
  }
  std::vector<flow::Branch> branches;
  std::size_t next = 0;
  const auto append_listed = [&](std::size_t end) {
    branches.insert(branches.end(), run.branches.begin() + static_cast<std::ptrdiff_t>(next),
                    run.branches.begin() + static_cast<std::ptrdiff_t>(end));
    next = end;
  };
  for (const CallGroup& group : paired->groups) {
    append_listed(group.branches);
    append_branches(paired->with_calls(group), *run.points, branches);
  }
  append_listed(run.branches.size());
  run.branches = std::move(branches);
  run.consumed.reset();
  run.marks.clear();
}

} // namespace ptlens::stacks
