// Which version of a process's code a branch runs in. What a thread changes, by mapping or by
// becoming another program, it changes in the kernel, and the records of it are written before
// tracing goes on: they count for what follows even where the times between which the trace places
// that begin before them.
#pragma once

#include "flow/branches/branch.hpp"

#include <algorithm>
#include <cstdint>

namespace ptlens::flow {

// Tracing went on no later than `latest_ns`: the time to look up its code at. Records and packets
// tell the same moment to within two roundings to whole ns.
[[nodiscard]] constexpr std::uint64_t code_time_of_on(std::uint64_t latest_ns) {
  constexpr std::uint64_t rounding_ns = 2;
  return latest_ns + rounding_ns;
}

// For the branches of one thread, in order.
class CodeTime {
public:
  // The time, ns, to look up the branch's code at.
  std::uint64_t of(const Branch& branch) {
    if (branch.kind == BranchKind::on) {
      known_ns_ = std::max(known_ns_, code_time_of_on(branch.time_ns + branch.uncertainty_ns));
    }
    return std::max(known_ns_, branch.time_ns);
  }

  // No branch from here on is looked up before that.
  [[nodiscard]] std::uint64_t known_ns() const { return known_ns_; }

private:
  std::uint64_t known_ns_ = 0;
};

} // namespace ptlens::flow
