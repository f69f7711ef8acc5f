// Instruction classes by Zydis' categories.
#include "code/instruction.hpp"

#include <Zydis/Decoder.h>

#include <array>

namespace ptlens::ptsim {
namespace {

constexpr std::uint8_t transfer_cycles = 2;
constexpr std::uint8_t multiply_cycles = 3;
constexpr std::uint8_t divide_cycles = 18;
constexpr std::uint8_t system_cycles = 40;

struct Decoder {
  Decoder() { ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  ZydisDecoder zydis{};
};

bool is_transaction(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_XBEGIN || mnemonic == ZYDIS_MNEMONIC_XABORT ||
         mnemonic == ZYDIS_MNEMONIC_XEND;
}

FlowKind flow_kind(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& first) {
  const bool direct =
      instruction.operand_count_visible > 0 && first.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (is_transaction(instruction.mnemonic) ||
      instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
    return FlowKind::unsupported;
  }
  switch (instruction.meta.category) {
  case ZYDIS_CATEGORY_COND_BR:
    return FlowKind::conditional;
  case ZYDIS_CATEGORY_UNCOND_BR:
    return direct ? FlowKind::jump : FlowKind::indirect_jump;
  case ZYDIS_CATEGORY_CALL:
    return direct ? FlowKind::call : FlowKind::indirect_call;
  case ZYDIS_CATEGORY_RET:
    return instruction.mnemonic == ZYDIS_MNEMONIC_RET ? FlowKind::ret : FlowKind::unsupported;
  case ZYDIS_CATEGORY_SYSCALL:
    return instruction.mnemonic == ZYDIS_MNEMONIC_SYSCALL ? FlowKind::syscall
                                                          : FlowKind::unsupported;
  case ZYDIS_CATEGORY_SYSRET:
  case ZYDIS_CATEGORY_UINTR:
    return FlowKind::unsupported;
  case ZYDIS_CATEGORY_INTERRUPT:
    return FlowKind::trap;
  default:
    return FlowKind::none;
  }
}

bool loads_stack(const ZydisDecodedInstruction& instruction,
                 const std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>& operands) {
  const auto is_stack_pointer = [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == ZYDIS_REGISTER_RSP;
  };
  switch (instruction.mnemonic) {
  case ZYDIS_MNEMONIC_MOV:
  case ZYDIS_MNEMONIC_POP:
    return is_stack_pointer(operands[0]);
  case ZYDIS_MNEMONIC_XCHG:
    return is_stack_pointer(operands[0]) || is_stack_pointer(operands[1]);
  default:
    return false;
  }
}

bool replaces_stack(const ZydisDecodedInstruction& instruction,
                    const std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT>& operands) {
  const auto is_of_frame = [](ZydisRegister base) {
    return base == ZYDIS_REGISTER_RSP || base == ZYDIS_REGISTER_RBP;
  };
  const ZydisDecodedOperand& from = operands[1];
  if (instruction.mnemonic == ZYDIS_MNEMONIC_LEA) {
    return operands[0].reg.value == ZYDIS_REGISTER_RSP && !is_of_frame(from.mem.base);
  }
  const bool from_frame =
      instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
      ((from.type == ZYDIS_OPERAND_TYPE_REGISTER && is_of_frame(from.reg.value)) ||
       (from.type == ZYDIS_OPERAND_TYPE_MEMORY && from.mem.base == ZYDIS_REGISTER_RSP));
  return loads_stack(instruction, operands) && !from_frame;
}

std::uint8_t cost(FlowKind flow, ZydisMnemonic mnemonic) {
  switch (flow) {
  case FlowKind::call:
  case FlowKind::indirect_call:
  case FlowKind::indirect_jump:
  case FlowKind::ret:
    return transfer_cycles;
  default:
    break;
  }
  switch (mnemonic) {
  case ZYDIS_MNEMONIC_MUL:
  case ZYDIS_MNEMONIC_IMUL:
  case ZYDIS_MNEMONIC_MULX:
  case ZYDIS_MNEMONIC_MULSD:
  case ZYDIS_MNEMONIC_MULSS:
    return multiply_cycles;
  case ZYDIS_MNEMONIC_DIV:
  case ZYDIS_MNEMONIC_IDIV:
  case ZYDIS_MNEMONIC_DIVSD:
  case ZYDIS_MNEMONIC_DIVSS:
  case ZYDIS_MNEMONIC_SQRTSD:
    return divide_cycles;
  case ZYDIS_MNEMONIC_CPUID:
  case ZYDIS_MNEMONIC_RDTSC:
  case ZYDIS_MNEMONIC_RDTSCP:
  case ZYDIS_MNEMONIC_XSAVE:
  case ZYDIS_MNEMONIC_XSAVEC:
  case ZYDIS_MNEMONIC_XRSTOR:
    return system_cycles;
  default:
    return 1;
  }
}

} // namespace

std::optional<Instruction> decode_instruction(std::span<const std::byte> bytes) {
  static const Decoder decoder;
  ZydisDecodedInstruction decoded{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder.zydis, bytes.data(), bytes.size(), &decoded,
                                           operands.data()))) {
    return std::nullopt;
  }
  Instruction instruction;
  instruction.flow = flow_kind(decoded, operands.front());
  instruction.length = decoded.length;
  instruction.cycles = cost(instruction.flow, decoded.mnemonic);
  constexpr ZydisInstructionAttributes repeat =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  instruction.repeats = (decoded.attributes & repeat) != 0;
  instruction.pushes_flags =
      decoded.mnemonic == ZYDIS_MNEMONIC_PUSHFQ || decoded.mnemonic == ZYDIS_MNEMONIC_PUSHF;
  instruction.loads_stack = loads_stack(decoded, operands);
  instruction.replaces_stack = replaces_stack(decoded, operands);
  if (instruction.flow == FlowKind::ret && decoded.operand_count_visible > 0) {
    instruction.extra_popped = static_cast<std::uint16_t>(operands.front().imm.value.u);
  }
  if (operands.front().type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
      operands.front().imm.is_relative != 0) {
    instruction.displacement = operands.front().imm.value.s;
  }
  instruction.to_next = instruction.flow == FlowKind::call && instruction.displacement == 0;
  instruction.common = decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
                       decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
  return instruction;
}

} // namespace ptlens::ptsim
