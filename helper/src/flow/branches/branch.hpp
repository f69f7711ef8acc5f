// What the flow stage produces: the taken branches of one thread, in order. Each branch has the
// middle of the time interval in which it happened, and half of the interval as its uncertainty.
// Branches between the same two timing packets share one interval: no time is invented between
// them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptlens::flow {

enum class BranchKind : std::uint8_t {
  call,
  ret,
  jump,      // direct, unconditional
  cond,      // conditional, taken
  indirect,  // jump through a register or memory
  syscall,   // leaves for the kernel; `to` is 0 where the kernel was not traced
  interrupt, // an asynchronous transfer (interrupt, exception, signal delivery)
  on,        // tracing begins at `to`; `from` is 0
  off,       // tracing ends after `from`; `to` where the trace names it, as with an address filter
  gap,       // trace or code is missing from here; `from` is the address, 0 where unknown
};

// Returns the name that `ptlens decode` prints.
[[nodiscard]] const char* name(BranchKind kind);

// Returns true where control does not simply continue after the branch.
[[nodiscard]] constexpr bool is_break(BranchKind kind) {
  return kind == BranchKind::on || kind == BranchKind::off || kind == BranchKind::gap ||
         kind == BranchKind::syscall || kind == BranchKind::interrupt;
}

enum class GapReason : std::uint8_t {
  none,
  missing_code,    // no binary, or no bytes, for the address `from`
  bad_instruction, // the bytes at `from` are no instruction
  overflow,        // OVF packet: the processor dropped packets
  truncated,       // AUX record with TRUNCATED: the buffer was full
  unknown_return,  // a compressed return of a call made before an earlier gap
  bad_trace,       // the packets contradict the code or the format
};

[[nodiscard]] const char* name(GapReason reason);

// Identifies the instruction that a branch comes from, or the address that it goes to, in the code
// of its run: see CodePoints. The two kinds of ids are counted separately.
enum class BranchPointId : std::uint32_t { none = 0 };
[[nodiscard]] constexpr std::uint32_t index_of(BranchPointId id) {
  return static_cast<std::uint32_t>(id);
}

struct Branch {
  std::uint64_t time_ns = 0; // perf's clock, 0 where the trace has no timing packet yet
  std::uint64_t from = 0;    // address of the branch instruction in the process
  std::uint64_t to = 0;
  std::uint32_t uncertainty_ns = 0; // the branch happened within time_ns ± uncertainty_ns
  BranchKind kind = BranchKind::jump;
  GapReason gap = GapReason::none;
  std::uint8_t from_size = 0; // bytes of the branch instruction, 0 where there is none
  // For `off`: the kind of branch that left the traced code, or `off` where no branch did.
  BranchKind leaving = BranchKind::off;
  BranchPointId from_id = BranchPointId::none;
  BranchPointId to_id = BranchPointId::none;

  // Returns the address after the branch instruction: the return address of a call.
  [[nodiscard]] constexpr std::uint64_t address_behind() const { return from + from_size; }
};

// Returns the branch with that time.
[[nodiscard]] constexpr Branch timed(Branch branch, std::uint64_t time_ns,
                                     std::uint32_t uncertainty_ns) {
  branch.time_ns = time_ns;
  branch.uncertainty_ns = uncertainty_ns;
  return branch;
}

} // namespace ptlens::flow
