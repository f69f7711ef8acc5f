// Classifies instructions by Zydis' categories.
#include "flow/code/instruction.hpp"

#include "symbols/machine_code/zydis_decoder.hpp"

#include <Zydis/Zydis.h>

namespace ptlens::flow {
namespace {

// A relative branch is direct: the instruction contains its target.
InstructionClass classify(const ZydisDecodedInstruction& instruction) {
  const bool direct = instruction.raw.imm[0].is_relative != 0;
  const bool far = instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (instruction.meta.category) {
  case ZYDIS_CATEGORY_CALL:
    if (far) {
      return InstructionClass::far_call;
    }
    return direct ? InstructionClass::call_direct : InstructionClass::call_indirect;
  case ZYDIS_CATEGORY_RET:
    switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_RET:
      return far ? InstructionClass::far_return : InstructionClass::ret;
    default:
      return InstructionClass::far_return;
    }
  case ZYDIS_CATEGORY_UNCOND_BR:
    if (far) {
      return InstructionClass::far_call;
    }
    return direct ? InstructionClass::jump_direct : InstructionClass::jump_indirect;
  case ZYDIS_CATEGORY_COND_BR:
    // XBEGIN continues at the next instruction; an abort is an event of its own.
    return instruction.mnemonic == ZYDIS_MNEMONIC_XBEGIN ? InstructionClass::other
                                                         : InstructionClass::conditional;
  case ZYDIS_CATEGORY_SYSCALL:
  case ZYDIS_CATEGORY_INTERRUPT:
    return InstructionClass::far_call;
  case ZYDIS_CATEGORY_SYSRET:
    return InstructionClass::far_return;
  default:
    return InstructionClass::other;
  }
}

} // namespace

std::optional<BranchKind> branch_kind(InstructionClass kind) {
  switch (kind) {
  case InstructionClass::call_direct:
  case InstructionClass::call_indirect:
    return BranchKind::call;
  case InstructionClass::jump_direct:
    return BranchKind::jump;
  case InstructionClass::jump_indirect:
    return BranchKind::indirect;
  case InstructionClass::ret:
    return BranchKind::ret;
  case InstructionClass::conditional:
    return BranchKind::cond;
  case InstructionClass::far_call:
  case InstructionClass::far_return:
    return BranchKind::syscall;
  case InstructionClass::other:
    break;
  }
  return std::nullopt;
}

std::optional<Instruction> decode_instruction(std::span<const std::byte> code,
                                              std::uint64_t address, bool is_64_bit) {
  ZydisDecodedInstruction decoded;
  if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&symbols::zydis_decoder(is_64_bit), nullptr,
                                                code.data(), code.size(), &decoded))) {
    return std::nullopt;
  }
  Instruction instruction;
  instruction.kind = classify(decoded);
  instruction.size = decoded.length;
  if (instruction.kind == InstructionClass::call_direct ||
      instruction.kind == InstructionClass::jump_direct ||
      instruction.kind == InstructionClass::conditional) {
    const std::uint64_t target =
        address + decoded.length + static_cast<std::uint64_t>(decoded.raw.imm[0].value.s);
    constexpr std::uint64_t low_32 = 0xffffffff;
    instruction.target = is_64_bit ? target : target & low_32;
  }
  return instruction;
}

} // namespace ptlens::flow
