// Calls that begin while another call of their function runs, on whichever of the thread's stacks.
// The outer call's time includes theirs, so that sums of time leave them out.
#pragma once

#include <cstdint>

namespace ptlens::stacks {

// Finds the nested calls of one function and one thread in a sweep over them: the calls are given
// in order of start, an outer call before the calls in it. Outermost calls never overlap, so that
// the latest one decides.
class NestingSweep {
public:
  // Returns whether the call is nested in the latest outermost call; else it becomes that itself.
  // A call that starts exactly when that one ends may be its sibling or a call of length 0 at its
  // end: `adjacent_is_nested()` decides.
  template <class AdjacentIsNested>
  bool is_nested(std::uint64_t start, std::uint64_t latency,
                 const AdjacentIsNested& adjacent_is_nested) {
    if (any_ && (start < end_ || (start == end_ && adjacent_is_nested()))) {
      return true;
    }
    any_ = true;
    end_ = start + latency;
    return false;
  }
  bool is_nested(std::uint64_t start, std::uint64_t latency) {
    return is_nested(start, latency, [] { return false; });
  }

private:
  bool any_ = false;
  std::uint64_t end_ = 0; // of the latest outermost call, ns
};

} // namespace ptlens::stacks
