// A system call from which the thread returned to the next instruction, in a stretch of exact time.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/code/code_points.hpp"

#include <array>
#include <cstdint>

namespace ptlens::flow {

struct SystemCall {
  BlockId block = no_block; // that the system call ends
  std::uint64_t off_ns = 0; // tracing was off from here
  std::uint64_t on_ns = 0;  // to here
};

// Returns the branch into the kernel, and the branch at which tracing came back on.
[[nodiscard]] inline std::array<Branch, 2> branches_of(const SystemCall& call,
                                                       const CodePoints& points) {
  Branch into = timed(points.branch(call.block, BranchKind::syscall, 0), call.off_ns, 0);
  into.leaving = BranchKind::syscall;
  return {into,
          {.time_ns = call.on_ns,
           .to = points.blocks[index_of(call.block)].address_behind(),
           .kind = BranchKind::on}};
}

} // namespace ptlens::flow
