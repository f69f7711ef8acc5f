// The source line of each address: the line programs of all compilation units, merged into one
// sorted table.
#pragma once

#include "base/field_archive.hpp"
#include "symbols/addresses/address_set.hpp"
#include "symbols/dwarf/source_line.hpp"
#include "symbols/elf/elf_image.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptlens::symbols {

class LineTable {
public:
  // Adds the rows of one unit. Leaves out rows outside executable sections (functions that the
  // linker dropped) and rows for code that an earlier unit has rows for: when several units
  // compiled an inline function, the linker keeps the first copy, and the other units' tables also
  // point to it.
  void add_unit(Dwarf_Die* unit, const ElfImage& image);
  // Sorts the rows. Call it once, after the last unit.
  void finish();

  // Writes the sorted rows, and reads them back. Returns false where they are damaged.
  void pack(FieldWriter& out) const;
  bool unpack(FieldReader& in);

  // Returns nothing where no row contains the address or the row names no line.
  [[nodiscard]] std::optional<SourceLine> at(std::uint64_t address) const;
  // Returns the largest line of `file` in the rows of [low, high), 0 where there is none. Subtracts
  // the number of rows it reads from `budget` and stops at 0: in a hostile file every function
  // could span all rows.
  [[nodiscard]] std::uint32_t last_line(AddressRange range, const std::string& file,
                                        std::uint64_t& budget) const;
  // Returns the code of [low, high) by lines of `file`, in order and without gaps; line 0 where a
  // row names another file or none.
  [[nodiscard]] std::vector<CodeLine> lines_in(AddressRange range, const std::string& file) const;
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }
  // Returns every file that a row names.
  [[nodiscard]] std::span<const std::string> files() const { return files_; }

private:
  static constexpr std::uint32_t no_file = UINT32_MAX;
  struct Row { // valid from `address` to the next row's address
    std::uint64_t address = 0;
    std::uint32_t file = no_file; // no_file: end of a sequence
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };

  std::uint32_t file_number(const std::string& file);

  std::vector<Row> rows_;
  AddressSet claimed_; // the addresses in the rows of the units added so far
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

} // namespace ptlens::symbols
