// One function per entry address, merged from several sources. The order of the calls is the order
// of trust.
#pragma once

#include "symbols/addresses/address_set.hpp"
#include "symbols/dwarf/debug_info.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/plt.hpp"
#include "symbols/elf/symbol_table.hpp"
#include "symbols/functions/function.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptlens::symbols {

class FunctionBuilder {
public:
  explicit FunctionBuilder(const ElfImage& image) : image_(image) {}

  void add_stubs(std::span<const PltStub> stubs);
  // Merges the symbols of one address into one function. Stores `.cold` parts for join_cold_parts.
  // The unwind ranges end symbols without a size.
  void add_symbols(std::span<const Symbol> symbols, std::span<const AddressRange> unwind_ranges);
  // Adds declared lines and further ranges to known functions, and functions without a symbol.
  void add_subprograms(const DebugInfo& debug_info);
  // Adds each `.cold` part to the function of that name in the same source file.
  void join_cold_parts();
  // Adds functions of stripped binaries, named by their address.
  void add_unwind_ranges(std::span<const AddressRange> ranges);
  void mark_resolvers();
  void mark_thunks();
  // Sets `original` and `part`.
  void relate_copies();

  [[nodiscard]] std::map<std::uint64_t, Function> take() { return std::move(functions_); }

  struct NamedEntry {
    std::string linkage_name; // with its version
    std::uint64_t entry = 0;
    std::uint32_t source_file = 0;
    Symbol::Binding binding = Symbol::Binding::local;
    bool exported = false;
  };
  [[nodiscard]] std::span<const NamedEntry> names() const { return names_; }

private:
  [[nodiscard]] const NamedEntry* owner_of(std::uint32_t source_file, std::string_view owner) const;
  void add_orphan(const Symbol& part);

  const ElfImage& image_;
  std::map<std::uint64_t, Function> functions_; // by entry
  AddressSet covered_;                          // the addresses in functions_ so far
  std::vector<NamedEntry> names_;
  std::unordered_multimap<std::string_view, std::size_t> by_name_; // indices into names_
  std::vector<Symbol> cold_parts_;
};

} // namespace ptlens::symbols
