// Positions in a run.
#include "flow/runs/run.hpp"

namespace ptlens::flow {

void Run::shift_branches(std::ptrdiff_t count) {
  for (SyncMark& mark : marks) {
    mark.branches += static_cast<std::size_t>(count);
  }
  if (consumed) {
    consumed->shift(count);
  }
}

std::uint64_t Run::first_ns() const {
  return begins_with_branch() ? branches.front().time_ns : consumed->first_ns();
}

} // namespace ptlens::flow
