// A run, with calls and without.
#include "flow/branches/run.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::flow {

void Run::shift_branches(std::ptrdiff_t count) {
  for (SyncMark& mark : marks) {
    mark.branches += static_cast<std::size_t>(count);
  }
  for (ReturnedCalls& part : returned_parts) {
    part.branches += static_cast<std::size_t>(count);
  }
}

std::uint64_t Run::first_ns() const {
  if (begins_with_branch()) {
    return branches.front().time_ns;
  }
  const ReturnedCalls& part = returned_parts.front();
  return part.begin == part.end ? part.last_ns : returned[part.begin].start_ns;
}

void unfold(Run& run) {
  if (run.returned_parts.empty()) {
    return;
  }
  std::vector<Branch> branches;
  std::size_t branch = 0;
  const auto add_branches = [&](std::size_t end) {
    branches.insert(branches.end(), run.branches.begin() + static_cast<std::ptrdiff_t>(branch),
                    run.branches.begin() + static_cast<std::ptrdiff_t>(end));
    branch = end;
  };
  for (const ReturnedCalls& part : run.returned_parts) {
    add_branches(part.branches);
    unfold(part, run.calls_of(part), *run.points, branches);
  }
  add_branches(run.branches.size());
  run.branches = std::move(branches);
  run.returned.clear();
  run.returned_parts.clear();
  run.marks.clear();
}

} // namespace ptlens::flow
