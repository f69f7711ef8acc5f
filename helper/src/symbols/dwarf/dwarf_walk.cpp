// The parts of the walk that do not depend on the visitor.
#include "symbols/dwarf/dwarf_walk.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::symbols {

std::optional<OpenDwarf> open_dwarf(const DebugFile& debug_file) {
  if (!debug_file.has_dwarf) {
    return std::nullopt;
  }
  Result<ElfFile> file = ElfFile::open(debug_file.path, debug_file.identity);
  if (!file) {
    return std::nullopt;
  }
  std::unique_ptr<Dwarf, DwarfDeleter> dwarf(dwarf_begin_elf(file->elf(), DWARF_C_READ, nullptr));
  if (!dwarf) {
    return std::nullopt;
  }
  return OpenDwarf{.file = std::move(*file), .dwarf = std::move(dwarf)};
}

bool may_hold_subprograms(int tag) {
  switch (tag) {
  case DW_TAG_namespace:
  case DW_TAG_class_type:
  case DW_TAG_structure_type:
  case DW_TAG_union_type:
  case DW_TAG_enumeration_type:
  case DW_TAG_module:
  case DW_TAG_subprogram:
  case DW_TAG_lexical_block:
    return true;
  default:
    return false;
  }
}

std::vector<AddressRange> code_ranges(Dwarf_Die die, const ElfImage& image) {
  std::vector<AddressRange> ranges;
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  std::ptrdiff_t offset = 0;
  constexpr std::size_t most_ranges = 4096;
  while (ranges.size() < most_ranges &&
         (offset = dwarf_ranges(&die, offset, &base, &low, &high)) > 0) {
    const Section* section = image.code_section(low);
    if (section != nullptr && low < high && high <= section->end()) {
      ranges.push_back({.low = low, .high = high});
    }
  }
  return ranges;
}

bool put_entry_first(std::vector<AddressRange>& ranges, std::uint64_t entry) {
  const auto hot = std::ranges::find_if(ranges, [entry](const AddressRange& range) {
    return range.low <= entry && entry < range.high;
  });
  if (hot == ranges.end()) {
    return false;
  }
  std::rotate(ranges.begin(), hot, std::next(hot));
  return true;
}

const char* linker_name(Dwarf_Die die) {
  Dwarf_Attribute attribute = {};
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
    const char* text = dwarf_formstring(dwarf_attr_integrate(&die, kind, &attribute));
    if (text != nullptr) {
      return text;
    }
  }
  return "";
}

} // namespace ptlens::symbols
