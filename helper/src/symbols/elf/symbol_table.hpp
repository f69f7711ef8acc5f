// The function symbols of .symtab and .dynsym.
#pragma once

#include "symbols/elf/elf_image.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptlens::symbols {

struct Symbol {
  enum class Binding : std::uint8_t { local, global, weak };

  std::string name; // as in the table, with its version where the table has it
  std::uint64_t address = 0;
  std::uint64_t size = 0;        // bytes, 0 where the table has none; ends within its section
  std::uint64_t section_end = 0; // end of the section with the symbol
  std::uint32_t source_file = 0; // number of the STT_FILE before a local symbol, 0: none
  Binding binding = Binding::local;
  bool indirect = false;    // STT_GNU_IFUNC
  bool exported = false;    // in .dynsym: the dynamic linker can bind other files to it
  std::string version = {}; // of an exported one, as SymbolVersions::of spells it
};

// Returns the symbols of functions in executable sections of `image`: STT_FUNC, STT_GNU_IFUNC, and
// exported labels without a type, as in assembly. `elf` is the image's own file or its separate
// debug file.
[[nodiscard]] std::vector<Symbol> read_function_symbols(Elf* elf, std::uint64_t file_size,
                                                        const ElfImage& image);

// Checks whether perf would prefer `one` as the name of an address that both share: sized before
// unsized, strong before weak, global before local, fewer leading underscores, then the longer name
// (tools/perf/util/symbol.c, choose_best_symbol). Of equals, the first by name wins.
[[nodiscard]] bool names_better(const Symbol& one, const Symbol& other);

} // namespace ptlens::symbols
