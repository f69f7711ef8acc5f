// Converts paired calls to branches.
#include "stacks/pairing/paired_calls.hpp"

#include <algorithm>
#include <cstddef>
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

void append_branches(const CallGroup& group, std::span<const PairedCall> calls,
                     const flow::CodePoints& points, std::vector<flow::Branch>& branches) {
  std::vector<std::uint32_t> open; // indices in PairedCalls::calls
  const auto close_behind = [&](std::size_t depth) {
    for (; open.size() > depth; open.pop_back()) {
      if (const PairedCall& call = calls[open.back() - group.begin]; !call.is_tail()) {
        append_return(call, points, branches);
      }
    }
  };
  std::uint32_t index = group.begin;
  for (const PairedCall& call : calls) {
    const auto parent = std::ranges::find(open, call.parent);
    close_behind(parent == open.end() ? 0 : static_cast<std::size_t>(parent - open.begin()) + 1);
    append_opening(call, points, branches);
    open.push_back(index++);
  }
  close_behind(0);
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
    append_branches(group, paired->calls_of(group), *run.points, branches);
  }
  append_listed(run.branches.size());
  run.branches = std::move(branches);
  run.consumed.reset();
  run.marks.clear();
}

} // namespace ptlens::stacks
