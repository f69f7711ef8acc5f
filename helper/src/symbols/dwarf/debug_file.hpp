// Where the debug information of a binary is: in itself, or in a separate file as distributions
// ship it, or with a debuginfod server where the user allows it (debuginfod.hpp).
#pragma once

#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/elf_image.hpp"

#include <optional>
#include <string>

namespace ptlens::symbols {

struct DebugFile {
  std::string path;
  FileIdentity identity;
  bool has_dwarf = false; // .debug_info is there
};

// The binary itself when it has DWARF or no separate file is found. A separate file counts when its
// build-id equals the binary's, or, without build-ids, when its CRC is the one of .gnu_debuglink.
[[nodiscard]] DebugFile find_debug_file(const ElfFile& file, const ElfImage& image);

} // namespace ptlens::symbols
