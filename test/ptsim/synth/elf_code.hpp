// What a walk must know of one ELF file: its code, the symbols over it, and what its linkage stubs
// jump to. By libelf. All addresses are ELF virtual addresses, as nm prints them, and below 4 GiB.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptlens::ptsim::synth {

struct CodeSymbol { // one an address
  std::uint32_t address = 0;
  std::uint32_t size = 0;
  std::string name;              // global before weak before local, then by alphabet
  bool function = false;         // else a label, or an STT_GNU_IFUNC resolver
  std::uint32_t alias_count = 1; // symbols at this address
};

struct CodeSegment { // PT_LOAD with execute permission
  std::uint32_t address = 0;
  std::uint32_t size = 0; // bytes in the file
  std::uint64_t file_offset = 0;
};

class ElfCode {
public:
  // Errors: not_found, bad_input, unsupported (not x86-64, addresses beyond 4 GiB).
  static Result<ElfCode> read(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<std::uint8_t>& build_id() const { return build_id_; }
  [[nodiscard]] bool position_independent() const { return position_independent_; }
  [[nodiscard]] std::span<const CodeSegment> segments() const { return segments_; }
  [[nodiscard]] std::span<const CodeSymbol> symbols() const { return symbols_; } // by address

  // Code from the address to the end of its segment; empty outside of code.
  [[nodiscard]] std::span<const std::byte> code_at(std::uint32_t address) const;
  // The symbol at exactly this address, index into symbols().
  [[nodiscard]] std::optional<std::size_t> symbol_at(std::uint32_t address) const;
  // The last symbol whose address is not above, index into symbols().
  [[nodiscard]] std::optional<std::size_t> symbol_before(std::uint32_t address) const;

  [[nodiscard]] bool is_stub(std::uint32_t address) const;
  // Name of the symbol whose address the loader writes to this slot, empty where it is none.
  [[nodiscard]] std::string_view name_of_slot(std::uint32_t slot) const;
  // Address of the function that the dynamic symbol table defines by that name.
  [[nodiscard]] std::optional<std::uint32_t> exported(std::string_view name) const;

private:
  struct Handle;
  struct Hash { // look-ups by string_view
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  void read_segments(const Handle& handle);
  void read_sections(const Handle& handle);
  void read_symbols(const Handle& handle, void* section, bool dynamic);
  void read_relocations(const Handle& handle, void* section);
  void sort_symbols();

  struct RankedSymbol {
    CodeSymbol symbol;
    int rank = 0;
  };
  std::string path_;
  std::vector<std::uint8_t> build_id_;
  std::vector<std::byte> image_; // the file
  bool position_independent_ = false;
  std::vector<CodeSegment> segments_;
  std::vector<CodeSegment> stub_sections_;
  std::vector<RankedSymbol> ranked_; // while reading
  std::vector<CodeSymbol> symbols_;
  std::unordered_map<std::uint32_t, std::string> slots_;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> exports_;
};

} // namespace ptlens::ptsim::synth
