// Facts about a function's machine code, found by linear disassembly.
#pragma once

#include "symbols/elf/elf_image.hpp"
#include "symbols/functions/function_table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::symbols {

// See the Binary methods of the same names. `index` must be an index of `table`.
[[nodiscard]] std::vector<std::uint64_t>
direct_callees(const ElfImage& image, const FunctionTable& table, std::uint32_t index);
[[nodiscard]] bool calls_elsewhere(const ElfImage& image, const FunctionTable& table,
                                   std::uint32_t index);
[[nodiscard]] std::vector<Exit> exit_points(const ElfImage& image, const FunctionTable& table,
                                            std::uint32_t index);

// See Binary::entry_instructions.
[[nodiscard]] std::vector<std::uint64_t>
entry_instructions(const ElfImage& image, const FunctionTable& table, std::uint32_t index);

struct CallInstruction {
  std::uint64_t address = 0;
  std::uint64_t return_address = 0;
  std::optional<std::uint64_t> target; // of a direct call
};
// Returns every call instruction of a function, ordered by return address.
[[nodiscard]] std::vector<CallInstruction>
call_instructions(const ElfImage& image, const FunctionTable& table, std::uint32_t index);

// Returns the call that ends at a return address that is not among those of call_instructions;
// nothing where an instruction of the linear disassembly ends there. Hand-written code may contain
// data.
[[nodiscard]] std::optional<std::uint64_t>
call_out_of_line(const ElfImage& image, const FunctionTable& table, std::uint64_t return_address);

// Returns the instructions of a function for which Binary::replaces_stack is true, ascending.
[[nodiscard]] std::vector<std::uint64_t>
after_stack_replacement(const ElfImage& image, const FunctionTable& table, std::uint32_t index);

} // namespace ptlens::symbols
