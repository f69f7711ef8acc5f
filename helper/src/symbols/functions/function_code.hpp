// Questions about a function's machine code, answered by decoding it in a straight line.
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
[[nodiscard]] std::vector<Exit> exit_points(const ElfImage& image, const FunctionTable& table,
                                            std::uint32_t index);

// See Binary::entry_instructions.
[[nodiscard]] std::vector<std::uint64_t>
entry_instructions(const ElfImage& image, const FunctionTable& table, std::uint32_t index);

struct CallInstruction {
  std::uint64_t address = 0;
  std::uint64_t return_address = 0;
};
// Every call instruction of a function, by return address.
[[nodiscard]] std::vector<CallInstruction>
call_instructions(const ElfImage& image, const FunctionTable& table, std::uint32_t index);

// For a return address that none of them has: the call that ends there, provided that no
// instruction of the straight-line decoding does. Hand-written code may hold data.
[[nodiscard]] std::optional<std::uint64_t>
call_out_of_line(const ElfImage& image, const FunctionTable& table, std::uint64_t return_address);

// Instructions of a function at which Binary::replaces_stack holds, ascending.
[[nodiscard]] std::vector<std::uint64_t>
behind_stack_replacement(const ElfImage& image, const FunctionTable& table, std::uint32_t index);

} // namespace ptlens::symbols
