// All functions of a binary, merged from symbols, PLT stubs, DWARF and the unwind table.
#pragma once

#include "symbols/dwarf/debug_info.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/plt.hpp"
#include "symbols/elf/symbol_table.hpp"
#include "symbols/functions/function.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::symbols {

struct FunctionSources {
  std::vector<Symbol> symbols;
  std::vector<PltStub> stubs;
  std::vector<AddressRange> unwind_ranges;
};

// A symbol at the entry of a function: another name of it, or its own where that is exported.
struct Alias {
  std::string linkage_name; // with its version, as in "free@@GLIBC_2.2.5"
  std::uint32_t function = 0;
  bool exported = false; // the dynamic linker can bind other files to it
};

class FunctionTable {
public:
  FunctionTable(const ElfImage& image, const FunctionSources& sources, const DebugInfo& debug_info);

  [[nodiscard]] std::span<const Function> functions() const { return functions_; }
  [[nodiscard]] std::span<const Alias> aliases() const { return aliases_; } // by function
  [[nodiscard]] std::span<const Alias> aliases_of(std::uint32_t index) const;
  [[nodiscard]] std::optional<std::uint32_t> at(std::uint64_t address) const;
  [[nodiscard]] std::optional<std::uint32_t> entry(std::uint64_t address) const;
  [[nodiscard]] std::optional<std::string> stub_target(std::uint32_t index) const;

private:
  struct Extent { // [low, high) belongs to `function`; ordered, without overlaps
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t function = 0;
  };

  void number(std::map<std::uint64_t, Function> by_entry);
  void cut_into_extents();
  void divide();

  std::vector<Function> functions_;
  std::vector<Alias> aliases_;
  std::vector<Extent> extents_;
  // For each bucket of 2^bucket_bits_ bytes, from the first extent on: the number of extents that
  // begin before it or at its start.
  std::vector<std::uint32_t> begun_;
  unsigned bucket_bits_ = 0;
  std::map<std::uint32_t, std::string> stub_targets_;
};

} // namespace ptlens::symbols
