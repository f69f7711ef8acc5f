// Inlined instances of functions, from the DIE trees.
#pragma once

#include "symbols/dwarf/debug_file.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/functions/function_table.hpp"

#include <string_view>
#include <vector>

namespace ptlens::symbols {

// See Binary::inlined.
[[nodiscard]] std::vector<InlinedInstance> find_inlined(const DebugFile& file,
                                                        const ElfImage& image,
                                                        const FunctionTable& table,
                                                        std::string_view name);

} // namespace ptlens::symbols
