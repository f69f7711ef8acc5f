// Functions of one ELF file by its symbol tables, and where its linkage stubs are. By libelf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::ptsim {

struct Function {
  std::uint64_t address = 0; // ELF virtual address of the entry
  std::uint64_t size = 0;    // bytes; up to the next function where the symbol gives none
  std::string name;
};

class SymbolTable {
public:
  SymbolTable() = default;
  // Empty where the file is no ELF file or cannot be read.
  static SymbolTable of_file(const std::string& path);
  static SymbolTable of_image(std::span<std::byte> image);

  // Function that holds the address; null where none does.
  [[nodiscard]] const Function* containing(std::uint64_t address) const;
  [[nodiscard]] const Function* named(std::string_view name) const;

  // Returns true for an address in a section of linkage stubs (.plt, .plt.sec, .plt.got, .iplt), or
  // in code whose name shows that it replaces a jump: a retpoline, the dynamic linker's lazy
  // binding.
  [[nodiscard]] bool is_stub(std::uint64_t address) const;

  // ELF virtual address of a byte of the file, by the loadable segments.
  [[nodiscard]] std::optional<std::uint64_t> address_of_offset(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::uint64_t> offset_of_address(std::uint64_t address) const;

  [[nodiscard]] const std::vector<std::uint8_t>& build_id() const { return build_id_; }

private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t address = 0;
  };
  void read(void* elf);

  std::vector<Function> functions_; // by address, one an address
  std::vector<Range> stubs_;
  std::vector<Segment> segments_;
  std::vector<std::uint8_t> build_id_;
};

// Whether two symbols name parts of one source function: NAME and NAME.cold or NAME.part.N.
[[nodiscard]] bool same_source_function(std::string_view left, std::string_view right);

} // namespace ptlens::ptsim
