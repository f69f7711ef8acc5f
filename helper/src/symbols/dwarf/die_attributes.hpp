// Attributes of DIEs (DWARF 5, chapters 2 and 3), read by libdw.
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

// Checks whether a DIE with this tag may have the description of a function below it.
[[nodiscard]] bool may_contain_subprograms(int tag);

// Returns the ranges of a DIE that are in code sections, at most 4,096.
[[nodiscard]] std::vector<AddressRange> code_ranges(Dwarf_Die die, const ElfImage& image);

// Moves the range that contains `entry` to the front. Returns false where no range does.
bool put_entry_first(std::vector<AddressRange>& ranges, std::uint64_t entry);

// Returns DW_AT_linkage_name, else DW_AT_name, of the DIE or of the DIE that it refers to; empty
// where there is neither.
[[nodiscard]] const char* linker_name(Dwarf_Die die);

// Returns the folder that relative paths of a unit start from; empty where the unit names none.
[[nodiscard]] std::string compilation_folder(Dwarf_Die* unit);

// Returns the line of the call that an inlined instance replaces; nothing where the DIE does not
// give it. `folder`: compilation_folder of its unit.
[[nodiscard]] std::optional<SourceLine> replaced_call(Dwarf_Die die, const std::string& folder);

} // namespace ptlens::symbols
