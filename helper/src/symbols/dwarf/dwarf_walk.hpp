// Walks over the DIE trees of a debug file (DWARF 5, sections 3.1 and 3.3). Safe for damaged and
// hostile files: there is no recursion, and the offsets of DIEs must increase, because a sibling
// reference backwards would never end.
#pragma once

#include "symbols/dwarf/debug_file.hpp"
#include "symbols/elf/elf_image.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::symbols {

struct OpenDwarf {
  ElfFile file;
  std::unique_ptr<Dwarf, DwarfDeleter> dwarf;
};

// Returns nothing where the file has no DWARF, has changed, or cannot be read.
[[nodiscard]] std::optional<OpenDwarf> open_dwarf(const DebugFile& file);

// Calls `visit(unit, contents)` for every unit with code. Both are the unit's first DIE, except for
// split units, whose contents are in another file.
template <class Visit>
void for_each_unit(Dwarf* dwarf, const Visit& visit) {
  Dwarf_CU* unit = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die die = {};
  Dwarf_Die split = {};
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, &split) == 0) {
    const bool is_skeleton = type == DW_UT_skeleton && split.addr != nullptr;
    if (type == DW_UT_compile || type == DW_UT_partial || is_skeleton) {
      visit(die, is_skeleton ? split : die);
    }
  }
}

// Walks the DIEs below `unit` depth first. Calls `visit(die, parents)`; `parents` are the enclosing
// DIEs without `unit`, outermost first. The DIEs below a DIE are walked where `visit` returns true.
template <class Visit>
void for_each_die(Dwarf_Die unit, const Visit& visit) {
  constexpr std::size_t deepest = 256;
  std::vector<Dwarf_Die> parents;
  Dwarf_Die die = {};
  if (dwarf_child(&unit, &die) != 0) {
    return;
  }
  Dwarf_Off last = dwarf_dieoffset(&unit);
  for (;;) {
    const Dwarf_Off offset = dwarf_dieoffset(&die);
    if (offset <= last) {
      return;
    }
    last = offset;
    const bool deeper = visit(die, parents);
    Dwarf_Die next = {};
    if (deeper && parents.size() < deepest && dwarf_child(&die, &next) == 0) {
      parents.push_back(die);
      die = next;
      continue;
    }
    while (dwarf_siblingof(&die, &next) != 0) {
      if (parents.empty()) {
        return;
      }
      die = parents.back();
      parents.pop_back();
    }
    die = next;
  }
}

} // namespace ptlens::symbols
