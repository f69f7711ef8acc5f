// The effect of an instruction on control flow, decoded by Zydis. Intel SDM vol. 3, "Intel
// Processor Trace", table of COFI types.
#pragma once

#include "flow/branches/branch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::flow {

enum class InstructionClass : std::uint8_t {
  other,
  call_direct,
  call_indirect,
  ret,
  jump_direct,
  jump_indirect,
  conditional,
  far_call,   // syscall, sysenter, int n, far call
  far_return, // iret, sysret, sysexit, far ret
};

struct Instruction {
  InstructionClass kind = InstructionClass::other;
  std::uint8_t size = 0;    // bytes
  std::uint64_t target = 0; // of a direct branch
  bool inside = false;      // a direct jump that stays inside its function, not to its entry
};

// Returns the kind of branch by such an instruction; nullopt where it does not branch.
[[nodiscard]] std::optional<BranchKind> branch_kind(InstructionClass kind);

// Decodes the instruction at `address`, whose bytes begin `code`. Returns nullopt where the bytes
// are no instruction.
[[nodiscard]] std::optional<Instruction> decode_instruction(std::span<const std::byte> code,
                                                            std::uint64_t address, bool is_64_bit);

} // namespace ptlens::flow
