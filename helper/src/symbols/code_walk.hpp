// Questions about a function's machine code, answered by decoding it in a straight line.
#pragma once

#include "symbols/elf_image.hpp"
#include "symbols/function_table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptlens::symbols {

// See the Binary methods of the same names. `index` must be an index of `table`.
[[nodiscard]] std::vector<std::uint64_t>
direct_callees(const ElfImage& image, const FunctionTable& table, std::uint32_t index);
[[nodiscard]] std::vector<Exit> exit_points(const ElfImage& image, const FunctionTable& table,
                                            std::uint32_t index);
[[nodiscard]] std::optional<std::uint64_t>
call_before(const ElfImage& image, const FunctionTable& table, std::uint64_t return_address);

} // namespace ptlens::symbols
