// The code of functions by the lines of their own source.
#pragma once

#include "symbols/dwarf/debug_file.hpp"
#include "symbols/dwarf/line_table.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/functions/function_table.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::symbols {

// See Binary::own_lines.
[[nodiscard]] std::vector<CodeLine> find_own_lines(const DebugFile& file, const ElfImage& image,
                                                   const FunctionTable& table,
                                                   const LineTable& lines,
                                                   std::span<const std::uint32_t> functions);

} // namespace ptlens::symbols
