// One function per entry address, put together source by source; the order of the calls is the
// order of trust.
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
  // Symbols of one address become one function; `.cold` parts are kept for join_cold_parts. The
  // unwind ranges end what has no size.
  void add_symbols(std::span<const Symbol> symbols, std::span<const AddressRange> unwind_ranges);
  // Declared lines and further ranges for known functions, and functions without a symbol.
  void add_subprograms(const DebugInfo& debug_info);
  // `.cold` symbols go to the function that they are named after in the same source file.
  void join_cold_parts();
  // Functions of stripped binaries, named after their address.
  void add_unwind_ranges(std::span<const AddressRange> ranges);
  void mark_resolvers();
  void mark_thunks();
  // Fills in `original` and `part`.
  void relate_copies();

  [[nodiscard]] std::map<std::uint64_t, Function> take() { return std::move(functions_); }

  struct NamedEntry {
    std::string linkage_name;
    std::uint64_t entry = 0;
    std::uint32_t source_file = 0;
    Symbol::Binding binding = Symbol::Binding::local;
  };
  [[nodiscard]] std::span<const NamedEntry> names() const { return names_; }

private:
  [[nodiscard]] const NamedEntry* owner_of(std::uint32_t source_file, std::string_view owner) const;
  void add_orphan(const Symbol& part);

  const ElfImage& image_;
  std::map<std::uint64_t, Function> functions_; // by entry
  AddressSet covered_;                          // by what is in functions_ so far
  std::vector<NamedEntry> names_;
  std::unordered_multimap<std::string_view, std::size_t> by_name_; // indices into names_
  std::vector<Symbol> cold_parts_;
};

} // namespace ptlens::symbols
