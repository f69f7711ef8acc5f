// Unwinding: from the registers in a function to those in its caller, by the call frame
// information of the binary (DWARF 5, section 6.4; .eh_frame). Most programs and libraries keep no
// frame pointers.
#pragma once

#include "base/error.hpp"
#include "symbols/elf/elf_file.hpp"

#include <elfutils/libdw.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace ptlens::symbols {

// The known registers, by DWARF number of the x86-64 ABI; 16 is the return address.
struct FrameRegisters {
  static constexpr std::size_t rbp = 6;
  static constexpr std::size_t rsp = 7;
  static constexpr std::size_t ip = 16;
  std::array<std::optional<std::uint64_t>, 17> value = {};
};

// A copy of the top of a stack.
struct StackCopy {
  std::uint64_t address = 0; // of the first byte
  std::span<const std::byte> bytes = {};

  // Returns the word at an address of the process; nothing where the copy does not contain it.
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t at) const;
};

class CallFrames {
public:
  // Errors: those of ElfFile::open, and unsupported where the file has no call frame information.
  static Result<CallFrames> open(const std::string& path);

  enum class Step : std::uint8_t { done, no_information, ended };
  // Replaces the registers by those of the caller. `address`: of the code, in the ELF file; for a
  // caller an address inside its call instruction. no_information: the code has none. ended: this
  // is the outermost frame, or the copy of the stack does not reach further.
  [[nodiscard]] Step step(std::uint64_t address, const StackCopy& stack, FrameRegisters& registers);

private:
  struct Free {
    void operator()(void* memory) const { ::free(memory); } // NOLINT
  };
  using Frame = std::unique_ptr<Dwarf_Frame, Free>;

  CallFrames(ElfFile file, Dwarf_CFI* information)
      : file_(std::move(file)), information_(information) {}

  ElfFile file_;
  Dwarf_CFI* information_;                          // of file_
  std::unordered_map<std::uint64_t, Frame> frames_; // by address; null: no information
};

} // namespace ptlens::symbols
