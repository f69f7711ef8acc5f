// The dynamic symbols of an ELF file: what it defines for other files, and what it needs from them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace ptlens::record {

struct ElfSymbols {
  std::unordered_map<std::string, std::uint64_t> defined; // ELF addresses of functions, by name; of
                                                          // several versions, the default one
  std::unordered_set<std::string> imported;
  // Functions of a program without dynamic linking, from its symbol table.
  std::unordered_set<std::string> linked;
  bool dynamic = false; // has a dynamic section
  bool go = false;      // was made by the Go linker
};

// Returns empty lists for a file that cannot be read.
[[nodiscard]] ElfSymbols read_elf_symbols(const std::string& path);

} // namespace ptlens::record
