// A call that came back, told as one instead of by the branches that it began and ended with. Told
// so is only what is beyond doubt: calls of a function's entry, maybe through a stub, which return
// to behind where they were made, tail calls inside them, and nothing else that counts. Whether
// another stack of the thread waits where one of them returns to is for its reader to ask.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/code/code_points.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::flow {

struct ReturnedCall {
  std::uint64_t start_ns = 0;
  std::uint32_t latency_ns = 0;
  std::uint32_t children_ns = 0;       // of latency, in calls inside
  std::uint32_t start_uncertainty = 0; // see Branch
  std::uint32_t end_uncertainty = 0;
  std::uint32_t parent = 0; // index in the run of the call it was made in: see ReturnedCalls
  // Numbers of the graph's own, counted by themselves, of the function's entry and of the call
  // site.
  std::uint32_t target = 0;
  std::uint32_t site = 0;
  std::uint32_t exit = 0;     // of the branch that it began with
  std::uint32_t arrival = 0;  // the same; of the jump where it went through a stub
  BlockIndex stub = no_block; // that ends by the jump of the stub; it was reached directly
  BlockIndex back = no_block; // that ends by the return
  BranchKind kind = BranchKind::call;
  bool inner = false; // inside another call of its function that it is told with
  // By a jump: it ends with the call inside which it was made.
  [[nodiscard]] bool is_tail() const { return kind != BranchKind::call; }
};
static_assert(sizeof(ReturnedCall) == 56);

// Calls that came back between two branches of a run, in the order in which they began, and
// branches between them that began and ended none.
struct ReturnedCalls {
  std::size_t branches = 0; // of the run, before them
  // Of the run's returned calls. A parent before them is none of them.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  // Of the last branch that is told so, or no earlier. Its numbers where it began and ended none,
  // else 0.
  std::uint64_t last_ns = 0;
  std::uint32_t last_uncertainty = 0;
  std::uint32_t last_exit = 0;
  std::uint32_t last_arrival = 0;
  BranchKind last_kind = BranchKind::jump;
};

// Adds the branches by which the call began.
void tell_opening(const ReturnedCall& call, const CodePoints& points, std::vector<Branch>& into);
// Adds the branches of all of the calls, and the last of those that began and ended none if it is
// the last of all. `calls` are those of the part.
void unfold(const ReturnedCalls& part, std::span<const ReturnedCall> calls,
            const CodePoints& points, std::vector<Branch>& into);

} // namespace ptlens::flow
