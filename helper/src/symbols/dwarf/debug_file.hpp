// The file with the debug information of a binary: the binary itself, a separate file as
// distributions ship it, or a file from a debuginfod server where the user allows it
// (debuginfod.hpp).
#pragma once

#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/elf_image.hpp"

#include <optional>
#include <string>

namespace ptlens::symbols {

struct DebugFile {
  std::string path;
  FileIdentity identity;
  bool has_dwarf = false; // the file has .debug_info
};

// Returns the binary itself where it has DWARF or no separate file is found. A separate file is
// accepted when its build-id equals the binary's or, without build-ids, when its CRC equals the one
// in .gnu_debuglink.
[[nodiscard]] DebugFile find_debug_file(const ElfFile& file, const ElfImage& image);

} // namespace ptlens::symbols
