// What ptsim must know of an x86-64 instruction: which packets it may cause, and what it costs in
// the model. Decoded by Zydis; the classes are those of the Intel SDM, "Intel Processor Trace",
// section on change-of-flow instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::ptsim {

enum class FlowKind : std::uint8_t {
  none,
  conditional,   // Jcc, LOOPcc, JRCXZ: one TNT bit
  jump,          // direct near jump: no packet
  indirect_jump, // TIP
  call,          // direct near call: no packet
  indirect_call, // TIP
  ret,           // near return: TNT bit where compressed, else TIP
  syscall,       // leaves user code: TIP.PGD
  trap,          // INT n, INT3, INTO: leaves user code by a fault
  unsupported,   // far branches, transactions, virtualisation
};

struct Instruction {
  FlowKind flow = FlowKind::none;
  std::uint8_t length = 0;     // bytes
  std::uint8_t cycles = 1;     // cost in the model, core cycles
  bool repeats = false;        // REP: one single-step trap for each iteration
  bool pushes_flags = false;   // PUSHF: would show the tracer's trap flag
  bool loads_stack = false;    // MOV, XCHG or POP to the stack pointer
  bool replaces_stack = false; // the stack pointer is set to what comes from no frame of the stack
  std::uint16_t extra_popped = 0; // RET imm16
  bool to_next = false;           // CALL +0, which the processor does not count as a call
  std::int64_t displacement = 0;  // of a direct branch: target - address of what follows
  bool common = true;             // one that every decoder of today knows: no EVEX, XOP, 3DNow!
};

// The instruction at the start of `bytes` (up to 15 are looked at); nothing where there is none.
[[nodiscard]] std::optional<Instruction> decode_instruction(std::span<const std::byte> bytes);

} // namespace ptlens::ptsim
