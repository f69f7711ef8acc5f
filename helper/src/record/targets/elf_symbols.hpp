// What an ELF file needs from other files, by its dynamic symbols, and what a program without
// dynamic linking contains.
#pragma once

#include <string>
#include <unordered_set>

namespace ptlens::record {

struct ElfSymbols {
  std::unordered_set<std::string> imported;
  // Functions of a program without dynamic linking, from its symbol table.
  std::unordered_set<std::string> linked;
  bool dynamic = false; // has a dynamic section
  bool go = false;      // was made by the Go linker
};

// Returns empty lists for a file that cannot be read.
[[nodiscard]] ElfSymbols read_elf_symbols(const std::string& path);

} // namespace ptlens::record
