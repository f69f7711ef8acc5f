// The versions of dynamic symbols.
#pragma once

#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptlens::symbols {

class SymbolVersions {
public:
  SymbolVersions() = default;
  // Reads the versions that an ELF file defines. `file_size`: bytes.
  SymbolVersions(Elf* elf, std::uint64_t file_size);

  // Returns "@@VERSION" for the definition to which new programs are bound, "@VERSION" for one
  // that only old programs use, and an empty string for a symbol without a version. `index`: of
  // the symbol in .dynsym.
  [[nodiscard]] std::string of(std::size_t index) const;

private:
  std::vector<std::uint16_t> numbers_;         // by symbol
  std::map<std::uint32_t, std::string> names_; // by number
};

} // namespace ptlens::symbols
