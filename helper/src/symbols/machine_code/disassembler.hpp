// Decoding of single x86 instructions by Zydis, reduced to what control flow needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::symbols {

struct Instruction {
  enum class Kind : std::uint8_t {
    other,
    call,
    ret,
    jump,
    conditional_jump,
    push, // push of an immediate
  };
  // A memory operand. Registers are Zydis' numbers of the full-width register, 0 for none.
  struct Memory {
    std::uint16_t base = 0; // 0 for RIP-relative operands, whose displacement is the address itself
    std::uint16_t index = 0;
    std::uint8_t scale = 0;
    std::uint64_t displacement = 0; // sign-extended
  };

  std::uint64_t address = 0;
  std::uint8_t length = 0; // bytes
  Kind kind = Kind::other;
  bool notrack = false;                        // CET: a jump through a table
  std::optional<std::uint64_t> target = {};    // direct call or jump
  std::uint16_t through_register = 0;          // indirect call or jump
  std::optional<Memory> through_memory = {};   // indirect call or jump
  std::optional<std::uint64_t> immediate = {}; // push

  [[nodiscard]] std::uint64_t end() const { return address + length; }
  [[nodiscard]] bool is_jump() const {
    return kind == Kind::jump || kind == Kind::conditional_jump;
  }
};

// The value that one instruction writes to one register, as far as jump tables need it.
enum class RegisterWrite : std::uint8_t {
  none,
  sum,            // add of a register: an entry relative to its table
  sign_extension, // movsxd
  indexed_load,   // mov from [index * 8 + displacement]
  other,
};

struct WriteEffect {
  RegisterWrite kind = RegisterWrite::none;
  std::uint64_t table = 0; // indexed_load: the displacement
};

// The effect of one instruction on the stack pointer.
enum class StackPointerWrite : std::uint8_t {
  none, // no effect, or the existing stack grows or shrinks, perhaps to a place that it contains
  own_frame, // set from the frame pointer
  foreign,   // set from memory or another register: possibly another stack
};

// A disassembler for 64-bit or 32-bit code. Cheap to make and without state.
class Disassembler {
public:
  explicit Disassembler(bool is_64_bit) : is_64_bit_(is_64_bit) {}

  // Decodes the instruction at the start of `bytes`, whose address is `address`. Returns nothing
  // where the bytes are not an instruction.
  [[nodiscard]] std::optional<Instruction> decode(std::span<const std::byte> bytes,
                                                  std::uint64_t address) const;

  // Returns the length of the instruction in bytes, 0 where the bytes are not an instruction.
  [[nodiscard]] std::uint8_t length(std::span<const std::byte> bytes) const;

  // Returns how the instruction at the start of `bytes` writes the full-width register `wanted`.
  [[nodiscard]] WriteEffect effect(std::span<const std::byte> bytes, std::uint64_t address,
                                   std::uint16_t wanted) const;

  [[nodiscard]] StackPointerWrite stack_pointer_write(std::span<const std::byte> bytes) const;

  // Return the full-width register that the instruction pops or pushes, 0 for other instructions.
  [[nodiscard]] std::uint16_t popped_register(std::span<const std::byte> bytes) const;
  [[nodiscard]] std::uint16_t pushed_register(std::span<const std::byte> bytes) const;

  // Returns an offset behind the last opcode that may have the effect StackPointerWrite::foreign.
  // Searches for the bytes of such opcodes without knowing where instructions begin.
  [[nodiscard]] std::size_t end_of_stack_pointer_writes(std::span<const std::byte> bytes) const;

  // Checks for an instruction that does not change the stack pointer, continues with the next
  // instruction, and takes negligible time: neither repeated nor a system call.
  [[nodiscard]] bool is_plain(std::span<const std::byte> bytes) const;

  // Checks for xsave, xsavec and fxsave: instructions of the lazy-binding trampoline.
  [[nodiscard]] bool saves_vector_state(std::span<const std::byte> bytes) const;

  // Returns the number of r11 in `through_register`.
  [[nodiscard]] static std::uint16_t register_r11();
  // Returns the number of ebx, the base register of 32-bit position-independent stubs.
  [[nodiscard]] static std::uint16_t register_ebx();

private:
  [[nodiscard]] std::uint16_t moved_by(int mnemonic, std::span<const std::byte> bytes) const;

  bool is_64_bit_;
};

} // namespace ptlens::symbols
