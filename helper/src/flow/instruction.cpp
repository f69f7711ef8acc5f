// Instruction classes by Zydis' categories.
#include "flow/instruction.hpp"

#include <Zydis/Zydis.h>

namespace ptlens::flow {
namespace {

InstructionClass classify(const ZydisDecodedInstruction& instruction,
                          const ZydisDecodedOperand* operands) {
  const bool direct =
      instruction.operand_count > 0 && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
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
    // XBEGIN goes on below it; an abort is an event of its own.
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
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                   is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded, operands))) {
    return std::nullopt;
  }
  Instruction instruction;
  instruction.kind = classify(decoded, operands);
  instruction.size = decoded.length;
  ZyanU64 target = 0;
  if ((instruction.kind == InstructionClass::call_direct ||
       instruction.kind == InstructionClass::jump_direct ||
       instruction.kind == InstructionClass::conditional) &&
      ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operands[0], address, &target))) {
    instruction.target = target;
  }
  return instruction;
}

} // namespace ptlens::flow
