// What the attributes of a DIE say (DWARF 5, chapters 2 and 3), by libdw.
#pragma once

#include "symbols/addresses/address_range.hpp"
#include "symbols/dwarf/source_line.hpp"
#include "symbols/elf/elf_image.hpp"

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::symbols {

// True when a function may be described somewhere below a DIE with this tag.
[[nodiscard]] bool may_hold_subprograms(int tag);

// The ranges of a DIE that lie in code sections, up to some thousands.
[[nodiscard]] std::vector<AddressRange> code_ranges(Dwarf_Die die, const ElfImage& image);

// Moves the range that holds `entry` to the front; false when none does.
bool put_entry_first(std::vector<AddressRange>& ranges, std::uint64_t entry);

// DW_AT_linkage_name, else DW_AT_name, of the DIE or what it refers to; empty where it has none.
[[nodiscard]] const char* linker_name(Dwarf_Die die);

// Returns the folder that relative paths of a unit start in; empty where the unit names none.
[[nodiscard]] std::string compilation_folder(Dwarf_Die* unit);

// Returns the line of the call that an inlined instance replaces, or nothing where the DIE does not
// say. `folder`: compilation_folder of its unit.
[[nodiscard]] std::optional<SourceLine> replaced_call(Dwarf_Die die, const std::string& folder);

} // namespace ptlens::symbols
