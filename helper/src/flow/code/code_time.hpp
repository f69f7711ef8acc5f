// Finds the version of a process's code that a branch runs in. A thread changes its code, by
// mapping or by executing another program, inside the kernel. The records of the change are written
// before tracing continues, so that they apply to the branches that follow, even where the time
// interval of these branches begins before the records.
#pragma once

#include "flow/branches/branch.hpp"

#include <algorithm>
#include <cstdint>

namespace ptlens::flow {

// Returns the time at which to look up the code after tracing went on, no later than `latest_ns`.
// The times of records and packets agree to within two roundings to whole ns.
[[nodiscard]] constexpr std::uint64_t code_time_of_on(std::uint64_t latest_ns) {
  constexpr std::uint64_t rounding_ns = 2;
  return latest_ns + rounding_ns;
}

// To be used for the branches of one thread, in order.
class CodeTime {
public:
  // Returns the time, ns, at which to look up the code of the branch.
  std::uint64_t of(const Branch& branch) {
    if (branch.kind == BranchKind::on) {
      note_on(branch.time_ns + branch.uncertainty_ns);
    }
    return std::max(known_ns_, branch.time_ns);
  }
  // Tracing went on no later than that, in ns.
  void note_on(std::uint64_t latest_ns) {
    known_ns_ = std::max(known_ns_, code_time_of_on(latest_ns));
  }

  // Returns the earliest time, ns, for the branches from here on.
  [[nodiscard]] std::uint64_t known_ns() const { return known_ns_; }

private:
  std::uint64_t known_ns_ = 0;
};

} // namespace ptlens::flow
