// Names that distinguish functions of one name.
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
// same with Rust's hash, its linkage name, or "f@0xADDRESS". The last form does not distinguish
// functions with equal addresses in different files.
[[nodiscard]] std::vector<std::string> telling_names(std::span<const NamedFunction> functions);

// Returns the name for a list that shows addresses beside the names: the demangled name, with
// Rust's hash where the unique name has it.
[[nodiscard]] std::string listed_name(const NamedFunction& function, const std::string& telling);

} // namespace ptlens::symbols
