// Debug information that was read before, in the user's cache folder: reading the DWARF of the C
// library takes as long as decoding 20 MB of trace.
//
//   symbols/0123456789abcdef   a file for each debug file, binary and build of this program:
//                              checksum of the rest, key, tables of DebugInfo
#pragma once

#include "symbols/dwarf/debug_info.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

// Returns what read_debug_info() returns. Reads the file, and keeps what took long to read.
[[nodiscard]] DebugInfo known_debug_info(const DebugFile& file, const ElfImage& image);

// `key`: what the tables depend on.
[[nodiscard]] std::vector<std::byte> packed(const DebugInfo& info, const std::string& key);
// Returns nothing where the bytes are damaged, or of another key.
[[nodiscard]] std::optional<DebugInfo> unpacked(std::span<const std::byte> bytes,
                                                std::string_view key);

} // namespace ptlens::symbols
