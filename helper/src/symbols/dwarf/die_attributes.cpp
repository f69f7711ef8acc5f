#include "symbols/dwarf/die_attributes.hpp"

#include "symbols/dwarf/source_path.hpp"

#include <dwarf.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace ptlens::symbols {

namespace {

std::string source_name(Dwarf_Die die, Dwarf_Word file, const std::string& folder) {
  Dwarf_Die unit = {};
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || file >= count) {
    return {};
  }
  const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
  return name == nullptr ? std::string() : normal_path(name, folder);
}

} // namespace

bool may_contain_subprograms(int tag) {
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
  const auto hot = std::ranges::find_if(
      ranges, [entry](const AddressRange& range) { return range.contains(entry); });
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

std::string compilation_folder(Dwarf_Die* unit) {
  Dwarf_Attribute attribute = {};
  const char* folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
  return folder == nullptr ? "" : folder;
}

std::optional<SourceLine> replaced_call(Dwarf_Die die, const std::string& folder) {
  Dwarf_Attribute attribute = {};
  Dwarf_Word line = 0;
  Dwarf_Word file = 0;
  if (dwarf_formudata(dwarf_attr(&die, DW_AT_call_line, &attribute), &line) != 0 ||
      dwarf_formudata(dwarf_attr(&die, DW_AT_call_file, &attribute), &file) != 0 ||
      line > UINT32_MAX) {
    return std::nullopt;
  }
  SourceLine call{.file = source_name(die, file, folder), .line = static_cast<std::uint32_t>(line)};
  return call.file.empty() ? std::nullopt : std::optional(std::move(call));
}

} // namespace ptlens::symbols
