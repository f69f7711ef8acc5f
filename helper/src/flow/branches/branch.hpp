// What the flow stage yields: one thread's taken branches in order, each with the middle of the
// interval in which it happened and half of its width. Branches between the same timing packets
// share one interval: no time is invented between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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
  off,       // tracing ends after `from`; `to` where the trace says so, as with an address filter
  gap,       // trace or code is missing from here; `from` is where, 0 where unknown
};

// The word that `ptlens decode` prints.
[[nodiscard]] const char* word(BranchKind kind);

// Control does not simply go on from it.
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

[[nodiscard]] const char* word(GapReason reason);

struct Branch {
  std::uint64_t time_ns = 0; // perf's clock, 0 where the trace has no timing packet yet
  std::uint64_t from = 0;    // address of the branch instruction in the process
  std::uint64_t to = 0;
  std::uint32_t uncertainty_ns = 0; // it happened within time_ns ± uncertainty_ns
  BranchKind kind = BranchKind::jump;
  GapReason gap = GapReason::none;
  std::uint8_t from_size = 0; // bytes of the branch instruction, 0 where there is none
  // Of off: the branch that left what is traced, or off where none did.
  BranchKind leaving = BranchKind::off;
  // Numbers that stand for `from`, and for `to`, in the code of the run, each counted by itself;
  // 0 where they have none.
  std::uint32_t exit = 0;
  std::uint32_t arrival = 0;
};

// The branch, at that time.
[[nodiscard]] constexpr Branch timed(Branch branch, std::uint64_t time_ns,
                                     std::uint32_t uncertainty_ns) {
  branch.time_ns = time_ns;
  branch.uncertainty_ns = uncertainty_ns;
  return branch;
}

// Statistics of a whole decode.
struct DecodeSummary {
  std::uint64_t instructions = 0;
  std::uint64_t decode_errors = 0; // contradictions: bad_trace and bad_instruction
  std::uint64_t gaps = 0;          // every kind
  std::uint64_t unowned_bytes = 0; // of flow packets at times when the switch records show an
                                   // idle CPU: whose they are is not known
  // How often tracing went on between two timing packets between which another thread came to the
  // CPU: the thread that was there at the first of them was taken.
  std::uint64_t uncertain_owners = 0;
  // Segments of trace that were decoded by themselves and taken as they were, and those that the
  // decoder of the segment before had to go through: it came there in another state.
  std::uint64_t segments = 0;
  std::uint64_t segments_again = 0;
  bool has_time = false; // some timing packet was seen
  // Nineteen of twenty branches are known to within this, ns: the width of their intervals; 0
  // without timing.
  std::uint64_t uncertainty_ns = 0;
  std::vector<std::string> warnings; // one line each

  // Counts of another part of the trace.
  void add(const DecodeSummary& part) {
    instructions += part.instructions;
    decode_errors += part.decode_errors;
    gaps += part.gaps;
    unowned_bytes += part.unowned_bytes;
    uncertain_owners += part.uncertain_owners;
    segments += part.segments;
    segments_again += part.segments_again;
    has_time = has_time || part.has_time;
  }
};

} // namespace ptlens::flow
