// The files *.sym of a uftrace folder: the symbols of each module, as `nm` prints them, below
// comments with the module's path and build-id (utils/symbol.c). They give names where a binary is
// missing.
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::uftrace {

struct Symbol {
  std::uint64_t address = 0; // from the start of the module; in old folders, of the process
  std::string name;          // as in the symbol table, or demangled
  bool stub = false;         // an entry of the PLT
};

struct SymbolFile {
  std::string module; // path
  std::vector<std::uint8_t> build_id;
  std::vector<Symbol> symbols; // by address

  // Returns the last symbol at or before the address; null where there is none.
  [[nodiscard]] const Symbol* find(std::uint64_t address) const;
};

// Reads the file. Lines of other kinds are ignored. Errors: not_found, no_rights, bad_input (too
// large).
[[nodiscard]] Result<SymbolFile> read_symbol_file(const std::string& path);

} // namespace ptlens::uftrace
