// Reads GoRuntime from the symbols that Go's linker adds and from the DWARF of package runtime.
#pragma once

#include "symbols/dwarf/debug_file.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/symbol_table.hpp"
#include "symbols/golang/go_runtime.hpp"

#include <optional>
#include <vector>

namespace ptlens::symbols {

// Checks for the line table of the Go runtime.
[[nodiscard]] bool has_go_runtime(const ElfImage& image);

// Returns nothing for a binary without the Go runtime, or whose symbols are stripped.
[[nodiscard]] std::optional<GoRuntime> read_go_runtime(const ElfImage& image,
                                                       const std::vector<Symbol>& symbols,
                                                       const DebugFile& debug_file);

} // namespace ptlens::symbols
