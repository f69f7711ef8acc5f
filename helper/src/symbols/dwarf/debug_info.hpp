// DWARF information of a binary, read in one pass over its units and stored as plain data.
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
  std::string linkage_name; // the linker's name, else DW_AT_name
  std::string file;         // of the definition; empty where unknown, as for closures
  std::uint32_t line = 0;
  bool artificial = false; // made by the compiler: no source declares it
};

struct DebugInfo {
  std::vector<Subprogram> subprograms; // by entry
  LineTable lines;
  std::vector<std::string> inlined_names; // see Binary::inlined_names
};

// Returns empty tables where the file has no DWARF or has changed. Returns what comes before the
// damage where the file is damaged.
[[nodiscard]] DebugInfo read_debug_info(const DebugFile& file, const ElfImage& image);

// Checks whether a line program of the file can name a source file called `name`. Searches the raw
// string and line sections, which is far cheaper than reading them. False is certain; true is not.
[[nodiscard]] bool may_name_source(const DebugFile& file, std::string_view name);

// Returns the source files that the compilation units are named after. Runs no line program.
[[nodiscard]] std::vector<std::string> read_unit_names(const DebugFile& file);

} // namespace ptlens::symbols
