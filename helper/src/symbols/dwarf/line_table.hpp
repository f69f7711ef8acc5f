// Which source line each address was made from: the line programs of all compilation units, merged
// into one sorted table.
#pragma once

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
  // Adds the rows of one unit. Left out are rows outside executable sections (functions that the
  // linker dropped) and of code that an earlier unit's rows hold: of an inline function that
  // several units compiled, the linker keeps the first copy and lets the others' tables point at
  // it.
  void add_unit(Dwarf_Die* unit, const ElfImage& image);
  // To be called once, after the last unit.
  void finish();

  // Nothing where no row holds the address or the row names no line.
  [[nodiscard]] std::optional<SourceLine> at(std::uint64_t address) const;
  // The largest line of `file` in the rows of [low, high), 0 where there is none. Takes the rows it
  // looks at off `budget` and ends at 0: a hostile file can let every function span all rows.
  [[nodiscard]] std::uint32_t last_line(AddressRange range, const std::string& file,
                                        std::uint64_t& budget) const;
  // The code of [low, high) by lines of `file`, in order and without holes; line 0 where a row
  // names another file or none.
  [[nodiscard]] std::vector<CodeLine> lines_in(AddressRange range, const std::string& file) const;
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }
  // Every file that some row names.
  [[nodiscard]] std::span<const std::string> files() const { return files_; }

private:
  static constexpr std::uint32_t no_file = UINT32_MAX;
  struct Row { // holds from `address` to the next row's address
    std::uint64_t address = 0;
    std::uint32_t file = no_file; // no_file: end of a sequence
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };

  std::uint32_t file_number(const std::string& file);

  std::vector<Row> rows_;
  AddressSet claimed_; // what the rows of the units added so far hold
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

} // namespace ptlens::symbols
