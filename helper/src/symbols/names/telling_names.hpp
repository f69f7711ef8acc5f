// Names that tell functions with one name apart.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::symbols {

struct NamedFunction {
  std::string name = {};         // demangled
  std::string linkage_name = {}; // empty: not known
  std::uint64_t address = 0;     // ELF address of the entry
};

// Returns for each function a name that matches it and none of the others: its demangled name, the
// same with Rust's hash, its linkage name, or "f@0xADDRESS". The last does not tell functions of
// equal addresses in different files apart.
[[nodiscard]] std::vector<std::string> telling_names(std::span<const NamedFunction> functions);

// Returns the telling name for a list that shows addresses beside the names: the name with Rust's
// hash, or else the demangled name.
[[nodiscard]] std::string listed_name(const NamedFunction& function, const std::string& telling);

} // namespace ptlens::symbols
