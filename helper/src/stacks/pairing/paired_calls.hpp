// Calls that were paired with their returns inside a stretch of trace: one entry in place of the
// two or three branches by which a call begins and ends. Only certain cases are paired: calls of a
// function's entry, maybe through a stub, that return to after the call instruction, tail calls and
// system calls inside them, and no other branch that counts. Whether another stack of the thread
// waits where one of them returns to is for the reader of the entries to check.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/code/code_points.hpp"
#include "flow/runs/run.hpp"
#include "flow/walk/system_call.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::stacks {

struct PairedCall {
  std::uint64_t start_ns = 0;
  std::uint32_t latency_ns = 0;
  std::uint32_t children_ns = 0;       // of the latency, in calls inside
  std::uint32_t outside_ns = 0;        // of the latency, with tracing off
  std::uint32_t start_uncertainty = 0; // see Branch::uncertainty_ns
  std::uint32_t end_uncertainty = 0;
  std::uint32_t parent = 0; // index in PairedCalls::calls of the caller: see CallGroup
  flow::Label target = 0;   // of the function's entry: see CallTargets
  flow::Label site = 0;     // of the call site
  flow::BranchPointId from_id = flow::BranchPointId::none; // of the branch that began the call
  flow::BranchPointId to_id = flow::BranchPointId::none;   // the same; of the stub's jump
  flow::BlockId stub = flow::no_block; // that the stub's jump ends; no_block: called directly
  flow::BlockId back = flow::no_block; // that the return ends
  flow::BranchKind kind = flow::BranchKind::call; // of the branch that began the call
  bool inner = false; // inside another call of its function that was paired in the same stretch
  // Returns true for a call that began by a jump: it ends with the call in which it was made.
  [[nodiscard]] bool is_tail() const { return kind != flow::BranchKind::call; }
};
static_assert(sizeof(PairedCall) == 64);

// A system call of a paired call. Its time is part of the outside_ns of the calls that it is in.
struct PairedSystemCall {
  flow::SystemCall system_call;
  std::uint32_t call = 0;   // index in PairedCalls::calls of the innermost call that it is in
  std::uint32_t before = 0; // index of the first call that began later
};

// Paired calls between two branches of a run, in the order in which they began, and the branches
// between them that began and ended no call.
struct CallGroup {
  std::size_t branches = 0; // of the run, before the group
  // Indices in PairedCalls::calls. A parent before `begin` is not a paired call.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  // Indices in PairedCalls::system_calls.
  std::uint32_t system_begin = 0;
  std::uint32_t system_end = 0;
  // The time of the last branch in the group, or an earlier bound of it. Its ids where it began and
  // ended no call, else `none`.
  std::uint64_t last_ns = 0;
  std::uint32_t last_uncertainty = 0;
  flow::BranchPointId last_from_id = flow::BranchPointId::none;
  flow::BranchPointId last_to_id = flow::BranchPointId::none;
  flow::BranchKind last_kind = flow::BranchKind::jump;
};

// A group with what it refers to.
struct PairedGroup {
  CallGroup group;
  std::span<const PairedCall> calls;
  std::span<const PairedSystemCall> system_calls; // in the order in which they happened
};

// The paired calls of a run.
class PairedCalls final : public flow::ConsumedBranches {
public:
  std::vector<PairedCall> calls;
  std::vector<PairedSystemCall> system_calls;
  std::vector<CallGroup> groups;

  [[nodiscard]] PairedGroup with_calls(const CallGroup& group) const {
    return {.group = group,
            .calls = std::span(calls).subspan(group.begin, group.end - group.begin),
            .system_calls =
                std::span(system_calls)
                    .subspan(group.system_begin, group.system_end - group.system_begin)};
  }

  [[nodiscard]] bool empty() const override { return groups.empty(); }
  [[nodiscard]] std::size_t size() const override { return calls.size(); }
  [[nodiscard]] std::size_t branches_before() const override { return groups.front().branches; }
  [[nodiscard]] std::uint64_t first_ns() const override;
  void shift(std::ptrdiff_t count) override;
};

// Returns the paired calls of the run, nullptr where it has none.
[[nodiscard]] const PairedCalls* paired_calls(const flow::Run& run);

// Appends the branches by which the call began.
void append_opening(const PairedCall& call, const flow::CodePoints& points,
                    std::vector<flow::Branch>& branches);
// Appends the branches of all calls of the group, and its last branch if that began and ended no
// call.
void append_branches(const PairedGroup& paired, const flow::CodePoints& points,
                     std::vector<flow::Branch>& branches);
// Replaces the paired calls of the run by their branches. Drops the marks.
void list_all_branches(flow::Run& run);

} // namespace ptlens::stacks
