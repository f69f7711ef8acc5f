// Classification of instructions by Zydis' mnemonics and operands (Intel SDM vol. 2).
#include "symbols/machine_code/disassembler.hpp"

#include "symbols/machine_code/zydis_decoder.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>

namespace ptlens::symbols {

namespace {

struct Decoded {
  ZydisDecodedInstruction instruction = {};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands = {};
};

ZydisMachineMode mode(bool is_64_bit) {
  return is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
}

std::uint16_t full_width(bool is_64_bit, ZydisRegister name) {
  return static_cast<std::uint16_t>(ZydisRegisterGetLargestEnclosing(mode(is_64_bit), name));
}

bool decode_all(bool is_64_bit, std::span<const std::byte> bytes, Decoded& decoded) {
  return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&zydis_decoder(is_64_bit), bytes.data(), bytes.size(),
                                             &decoded.instruction, decoded.operands.data()));
}

Instruction::Kind kind_of(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
  case ZYDIS_CATEGORY_CALL:
    return Instruction::Kind::call;
  case ZYDIS_CATEGORY_RET:
    return Instruction::Kind::ret;
  case ZYDIS_CATEGORY_UNCOND_BR:
    return Instruction::Kind::jump;
  case ZYDIS_CATEGORY_COND_BR:
    return Instruction::Kind::conditional_jump;
  case ZYDIS_CATEGORY_PUSH:
    return Instruction::Kind::push;
  default:
    return Instruction::Kind::other;
  }
}

Instruction::Memory memory_of(bool is_64_bit, const ZydisDecodedInstruction& instruction,
                              const ZydisDecodedOperand& operand, std::uint64_t address) {
  Instruction::Memory memory;
  memory.index = operand.mem.index == ZYDIS_REGISTER_NONE
                     ? std::uint16_t{0}
                     : full_width(is_64_bit, operand.mem.index);
  memory.scale = operand.mem.scale;
  memory.displacement = static_cast<std::uint64_t>(operand.mem.disp.value);
  if (operand.mem.base == ZYDIS_REGISTER_RIP) {
    ZyanU64 absolute = 0;
    if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operand, address, &absolute))) {
      memory.displacement = absolute;
    }
  } else if (operand.mem.base != ZYDIS_REGISTER_NONE) {
    memory.base = full_width(is_64_bit, operand.mem.base);
  }
  return memory;
}

} // namespace

std::optional<Instruction> Disassembler::decode(std::span<const std::byte> bytes,
                                                std::uint64_t address) const {
  ZydisDecoderContext context;
  ZydisDecodedInstruction decoded;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis_decoder(is_64_bit_), &context,
                                                  bytes.data(), bytes.size(), &decoded))) {
    return std::nullopt;
  }
  Instruction instruction{.address = address, .length = decoded.length, .kind = kind_of(decoded)};
  if (instruction.kind == Instruction::Kind::other || instruction.kind == Instruction::Kind::ret) {
    return instruction;
  }
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands = {};
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&zydis_decoder(is_64_bit_), &context, &decoded,
                                               operands.data(), decoded.operand_count_visible)) ||
      decoded.operand_count_visible == 0) {
    return instruction;
  }
  const ZydisDecodedOperand& operand = operands[0];
  if (instruction.kind == Instruction::Kind::push) {
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      instruction.immediate = operand.imm.value.u;
    }
    return instruction;
  }
  instruction.notrack = (decoded.attributes & ZYDIS_ATTRIB_HAS_NOTRACK) != 0;
  if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    ZyanU64 absolute = 0;
    if (operand.imm.is_relative != 0 &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operand, address, &absolute))) {
      instruction.target = absolute;
    }
  } else if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    instruction.through_register = full_width(is_64_bit_, operand.reg.value);
  } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
    instruction.through_memory = memory_of(is_64_bit_, decoded, operand, address);
  }
  return instruction;
}

std::uint8_t Disassembler::length(std::span<const std::byte> bytes) const {
  ZydisDecodedInstruction decoded;
  return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis_decoder(is_64_bit_), nullptr,
                                                    bytes.data(), bytes.size(), &decoded))
             ? decoded.length
             : std::uint8_t{0};
}

WriteEffect Disassembler::effect(std::span<const std::byte> bytes, std::uint64_t address,
                                 std::uint16_t wanted) const {
  Decoded decoded;
  if (!decode_all(is_64_bit_, bytes, decoded) || decoded.instruction.operand_count_visible == 0) {
    return {};
  }
  const ZydisDecodedOperand& to = decoded.operands[0];
  if (to.type != ZYDIS_OPERAND_TYPE_REGISTER ||
      (to.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0 ||
      full_width(is_64_bit_, to.reg.value) != wanted) {
    // cltq and similar instructions sign-extend rax without naming it.
    const bool extends_rax = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CDQE &&
                             wanted == static_cast<std::uint16_t>(ZYDIS_REGISTER_RAX);
    return {.kind = extends_rax ? RegisterWrite::sign_extension : RegisterWrite::none};
  }
  const ZydisDecodedOperand& from = decoded.operands[1];
  switch (decoded.instruction.mnemonic) {
  case ZYDIS_MNEMONIC_ADD:
    return {.kind = from.type == ZYDIS_OPERAND_TYPE_REGISTER ? RegisterWrite::sum
                                                             : RegisterWrite::other};
  case ZYDIS_MNEMONIC_MOVSXD:
    return {.kind = RegisterWrite::sign_extension};
  case ZYDIS_MNEMONIC_MOV:
    if (from.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const Instruction::Memory memory = memory_of(is_64_bit_, decoded.instruction, from, address);
      if (memory.base == 0 && memory.index != 0) {
        return {.kind = RegisterWrite::indexed_load, .table = memory.displacement};
      }
    }
    return {.kind = RegisterWrite::other};
  default:
    return {.kind = RegisterWrite::other};
  }
}

StackPointerWrite Disassembler::stack_pointer_write(std::span<const std::byte> bytes) const {
  Decoded decoded;
  if (!decode_all(is_64_bit_, bytes, decoded)) {
    return StackPointerWrite::none;
  }
  const auto is = [this](const ZydisDecodedOperand& operand, ZydisRegister wide) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           full_width(is_64_bit_, operand.reg.value) == full_width(is_64_bit_, wide);
  };
  const auto is_on_stack = [this](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
           full_width(is_64_bit_, operand.mem.base) == full_width(is_64_bit_, ZYDIS_REGISTER_RSP);
  };
  const ZydisDecodedOperand& to = decoded.operands[0];
  const ZydisDecodedOperand& from = decoded.operands[1];
  switch (decoded.instruction.mnemonic) {
  case ZYDIS_MNEMONIC_LEAVE:
    return StackPointerWrite::own_frame;
  case ZYDIS_MNEMONIC_LEA:
    if (!is(to, ZYDIS_REGISTER_RSP) || from.mem.base == ZYDIS_REGISTER_RSP ||
        from.mem.base == ZYDIS_REGISTER_ESP) {
      return StackPointerWrite::none;
    }
    return from.mem.base == ZYDIS_REGISTER_RBP || from.mem.base == ZYDIS_REGISTER_EBP
               ? StackPointerWrite::own_frame
               : StackPointerWrite::foreign;
  case ZYDIS_MNEMONIC_MOV:
    if (!is(to, ZYDIS_REGISTER_RSP) || is_on_stack(from)) {
      return StackPointerWrite::none;
    }
    return is(from, ZYDIS_REGISTER_RBP) ? StackPointerWrite::own_frame : StackPointerWrite::foreign;
  case ZYDIS_MNEMONIC_XCHG:
    return is(to, ZYDIS_REGISTER_RSP) || is(from, ZYDIS_REGISTER_RSP) ? StackPointerWrite::foreign
                                                                      : StackPointerWrite::none;
  case ZYDIS_MNEMONIC_POP:
    return is(to, ZYDIS_REGISTER_RSP) ? StackPointerWrite::foreign : StackPointerWrite::none;
  default:
    return StackPointerWrite::none;
  }
}

std::uint16_t Disassembler::moved_by(int mnemonic, std::span<const std::byte> bytes) const {
  Decoded decoded;
  const bool moves = decode_all(is_64_bit_, bytes, decoded) &&
                     decoded.instruction.mnemonic == static_cast<ZydisMnemonic>(mnemonic) &&
                     decoded.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  return moves ? full_width(is_64_bit_, decoded.operands[0].reg.value) : std::uint16_t{0};
}

std::uint16_t Disassembler::popped_register(std::span<const std::byte> bytes) const {
  return moved_by(ZYDIS_MNEMONIC_POP, bytes);
}

std::uint16_t Disassembler::pushed_register(std::span<const std::byte> bytes) const {
  return moved_by(ZYDIS_MNEMONIC_PUSH, bytes);
}

// Opcodes: mov (89, 8b), lea (8d), xchg (87, 94), pop (5c, 8f), Intel SDM vol. 2. rsp is register 4
// without the bits that REX adds.
std::size_t Disassembler::end_of_stack_pointer_writes(std::span<const std::byte> bytes) const {
  constexpr unsigned rsp = 4;
  constexpr unsigned rex_b = 1; // changes rsp to r12 in the r/m field or the opcode
  constexpr unsigned rex_r = 4; // in the reg field
  const auto byte = [&bytes](std::size_t at) { return std::to_integer<unsigned>(bytes[at]); };
  const auto in_reg = [](unsigned modrm) { return (modrm >> 3U & 7U) == rsp; };
  const auto in_rm = [](unsigned modrm) { return modrm >> 6U == 3 && (modrm & 7U) == rsp; };
  for (std::size_t end = bytes.size(); end > 0; --end) {
    const std::size_t at = end - 1;
    const unsigned opcode = byte(at);
    if (opcode != 0x89 && opcode != 0x8b && opcode != 0x8d && opcode != 0x87 && opcode != 0x94 &&
        opcode != 0x5c && opcode != 0x8f) {
      continue;
    }
    const unsigned before = is_64_bit_ && at > 0 ? byte(at - 1) : 0;
    const unsigned rex = before >> 4U == 4 ? before : 0;
    const bool plain_rm = (rex & rex_b) == 0;
    const bool plain_reg = (rex & rex_r) == 0;
    if (opcode == 0x94 || opcode == 0x5c) {
      if (plain_rm) {
        return end;
      }
      continue;
    }
    const unsigned modrm = end < bytes.size() ? byte(end) : 0;
    const bool writes_rm = opcode == 0x89 || opcode == 0x87 || opcode == 0x8f;
    const bool writes_reg = opcode == 0x8b || opcode == 0x8d || opcode == 0x87;
    if ((writes_rm && plain_rm && in_rm(modrm)) || (writes_reg && plain_reg && in_reg(modrm))) {
      return end;
    }
  }
  return 0;
}

bool Disassembler::is_plain(std::span<const std::byte> bytes) const {
  Decoded decoded;
  if (!decode_all(is_64_bit_, bytes, decoded) ||
      kind_of(decoded.instruction) != Instruction::Kind::other) {
    return false;
  }
  constexpr ZydisInstructionAttributes repeated =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  switch (decoded.instruction.meta.category) {
  case ZYDIS_CATEGORY_SYSCALL:
  case ZYDIS_CATEGORY_SYSRET:
  case ZYDIS_CATEGORY_SYSTEM:
  case ZYDIS_CATEGORY_INTERRUPT:
    return false;
  default:
    break;
  }
  const auto writes_stack_pointer = [this](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
           full_width(is_64_bit_, operand.reg.value) == full_width(is_64_bit_, ZYDIS_REGISTER_RSP);
  };
  return (decoded.instruction.attributes & repeated) == 0 &&
         std::none_of(decoded.operands.begin(),
                      decoded.operands.begin() + decoded.instruction.operand_count,
                      writes_stack_pointer);
}

bool Disassembler::saves_vector_state(std::span<const std::byte> bytes) const {
  ZydisDecoderContext context = {};
  ZydisDecodedInstruction instruction = {};
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis_decoder(is_64_bit_), &context,
                                                  bytes.data(), bytes.size(), &instruction))) {
    return false;
  }
  switch (instruction.mnemonic) {
  case ZYDIS_MNEMONIC_XSAVE:
  case ZYDIS_MNEMONIC_XSAVE64:
  case ZYDIS_MNEMONIC_XSAVEC:
  case ZYDIS_MNEMONIC_XSAVEC64:
  case ZYDIS_MNEMONIC_FXSAVE:
  case ZYDIS_MNEMONIC_FXSAVE64:
    return true;
  default:
    return false;
  }
}

std::uint16_t Disassembler::register_r11() {
  return ZYDIS_REGISTER_R11;
}
std::uint16_t Disassembler::register_ebx() {
  return ZYDIS_REGISTER_EBX;
}

} // namespace ptlens::symbols
