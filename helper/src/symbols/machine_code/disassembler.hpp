// One x86 instruction at a time by Zydis, reduced to what control flow needs.
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
    push, // of an immediate
  };
  // Registers are Zydis' numbers of the full-width register, 0 for none.
  struct Memory {
    std::uint16_t base = 0; // 0 for RIP-relative: the displacement is then the address itself
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

// What one instruction leaves in one register, as far as jump tables need it.
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

// What one instruction does to the stack pointer.
enum class StackPointerWrite : std::uint8_t {
  none,      // nothing, or it grows or shrinks the stack that is there
  own_frame, // set by the frame pointer
  foreign,   // set to what was in memory or in another register: perhaps another stack
};

// 64-bit or 32-bit code. Cheap to make; the calls have no state.
class Disassembler {
public:
  explicit Disassembler(bool is_64_bit) : is_64_bit_(is_64_bit) {}

  // The instruction at the start of `bytes`, which lies at `address`; nothing where the bytes are
  // no instruction.
  [[nodiscard]] std::optional<Instruction> decode(std::span<const std::byte> bytes,
                                                  std::uint64_t address) const;

  // How many bytes it has; 0 where they are no instruction.
  [[nodiscard]] std::uint8_t length(std::span<const std::byte> bytes) const;

  // How the instruction at the start of `bytes` writes the full-width register `wanted`.
  [[nodiscard]] WriteEffect effect(std::span<const std::byte> bytes, std::uint64_t address,
                                   std::uint16_t wanted) const;

  [[nodiscard]] StackPointerWrite stack_pointer_write(std::span<const std::byte> bytes) const;

  // The full-width register that the instruction pops or pushes; 0 where it is none such.
  [[nodiscard]] std::uint16_t popped_register(std::span<const std::byte> bytes) const;
  [[nodiscard]] std::uint16_t pushed_register(std::span<const std::byte> bytes) const;

  // No instruction whose opcode lies so many bytes behind the first, or more, has an effect of
  // StackPointerWrite::foreign: a search for the bytes of those that can, wherever instructions
  // begin.
  [[nodiscard]] std::size_t end_of_stack_pointer_writes(std::span<const std::byte> bytes) const;

  // True for an instruction that leaves the stack pointer as it is, goes on to the next one, and
  // takes no time to speak of: neither repeated nor a call of the kernel.
  [[nodiscard]] bool is_plain(std::span<const std::byte> bytes) const;

  // True for xsave, xsavec and fxsave: instructions of the lazy-binding trampoline.
  [[nodiscard]] bool saves_vector_state(std::span<const std::byte> bytes) const;

  // The number under which `through_register` names r11.
  [[nodiscard]] static std::uint16_t register_r11();
  // The same for ebx, which 32-bit position-independent stubs use as base.
  [[nodiscard]] static std::uint16_t register_ebx();

private:
  [[nodiscard]] std::uint16_t moved_by(int mnemonic, std::span<const std::byte> bytes) const;

  bool is_64_bit_;
};

} // namespace ptlens::symbols
