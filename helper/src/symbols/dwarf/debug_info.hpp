// What DWARF says of a binary, read in one pass over its units and kept as plain data.
#pragma once

#include "symbols/addresses/address_range.hpp"
#include "symbols/dwarf/debug_file.hpp"
#include "symbols/dwarf/line_table.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

struct Subprogram { // DW_TAG_subprogram with code
  std::uint64_t entry = 0;
  std::vector<AddressRange> ranges;
  std::string linkage_name; // as the linker sees it, else DW_AT_name
  std::string file;         // of the definition; empty where not said, as for closures
  std::uint32_t line = 0;
  bool artificial = false; // made by the compiler: no source declares it
};

struct DebugInfo {
  std::vector<Subprogram> subprograms; // by entry
  LineTable lines;
  std::vector<std::string> inlined_names; // see Binary::inlined_names
};

// Empty tables where the file has no DWARF, was changed since, or is damaged (up to the damage).
[[nodiscard]] DebugInfo read_debug_info(const DebugFile& file, const ElfImage& image);

// False when no line program of the file can name a source file called `name`: a search of the raw
// string and line sections, far cheaper than reading them.
[[nodiscard]] bool may_name_source(const DebugFile& file, std::string_view name);

// Source files that the compilation units are named after; no line program is run for it.
[[nodiscard]] std::vector<std::string> read_unit_names(const DebugFile& file);

} // namespace ptlens::symbols
