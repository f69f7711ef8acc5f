// Where functions were inlined, from the DIE trees.
#pragma once

#include "symbols/dwarf/debug_file.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/functions/function_table.hpp"

#include <elfutils/libdw.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

// See Binary::inlined.
[[nodiscard]] std::vector<InlinedPlace> find_inlined(const DebugFile& file, const ElfImage& image,
                                                     const FunctionTable& table,
                                                     std::string_view name);

// Where the call stood that the inlined code replaced; nothing where the DIE does not say.
// `folder`: compilation_folder of its unit.
[[nodiscard]] std::optional<SourceLine> replaced_call(Dwarf_Die die, const std::string& folder);

} // namespace ptlens::symbols
