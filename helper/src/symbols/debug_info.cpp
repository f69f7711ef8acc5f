// Walk over the DIE tree by libdw (DWARF 5, sections 3.1 and 3.3). A definition is described in up
// to three places: the concrete DIE (ranges), its abstract origin (an inlined function's own lines)
// and the declaration in its class; dwarf_attr_integrate looks in that order.
#include "symbols/debug_info.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

namespace ptlens::symbols {

namespace {

struct OpenDwarf {
  ElfFile file;
  std::unique_ptr<Dwarf, DwarfDeleter> dwarf;
};

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

// Calls `visit` with the first DIE of every unit that holds code.
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

class SubprogramReader {
public:
  SubprogramReader(const ElfImage& image, std::vector<Subprogram>& found)
      : image_(image), found_(found) {}

  // Depth first, without recursion. DIEs must come at growing offsets: a sibling reference that
  // goes back would never end.
  void read_unit(Dwarf_Die unit, std::string folder) {
    folder_ = std::move(folder);
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
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_subprogram) {
        read(die);
      }
      Dwarf_Die next = {};
      if (may_hold_subprograms(tag) && parents.size() < deepest && dwarf_child(&die, &next) == 0) {
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

private:
  void read(Dwarf_Die die) {
    if (!dwarf_hasattr(&die, DW_AT_low_pc) && !dwarf_hasattr(&die, DW_AT_ranges)) {
      return;
    }
    Subprogram subprogram;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    std::ptrdiff_t offset = 0;
    constexpr std::size_t most_ranges = 4096;
    while ((offset = dwarf_ranges(&die, offset, &base, &low, &high)) > 0) {
      const Section* section = image_.code_section(low);
      if (section != nullptr && low < high && high <= section->end() &&
          subprogram.ranges.size() < most_ranges) {
        subprogram.ranges.push_back({.low = low, .high = high});
      }
    }
    if (subprogram.ranges.empty()) {
      return;
    }
    Dwarf_Addr entry = 0;
    if (dwarf_entrypc(&die, &entry) != 0 || !put_entry_first(subprogram.ranges, entry)) {
      entry = subprogram.ranges.front().low;
    }
    subprogram.entry = entry;
    Dwarf_Attribute attribute = {};
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
      const char* text = dwarf_formstring(dwarf_attr_integrate(&die, kind, &attribute));
      if (text != nullptr) {
        subprogram.linkage_name = text;
        break;
      }
    }
    // GCC marks a closure's operator() as artificial, too, but its body is the user's.
    const char* name = dwarf_diename(&die);
    const bool closure = name != nullptr && std::string_view(name) == "operator()";
    bool artificial = false;
    if (!closure && dwarf_attr_integrate(&die, DW_AT_artificial, &attribute) != nullptr) {
      subprogram.artificial = dwarf_formflag(&attribute, &artificial) == 0 && artificial;
    }
    int line = 0;
    const char* file = dwarf_decl_file(&die);
    if (file != nullptr && dwarf_decl_line(&die, &line) == 0 && line > 0) {
      subprogram.file = normal_path(file, folder_);
      subprogram.line = static_cast<std::uint32_t>(line);
    }
    found_.push_back(std::move(subprogram));
  }

  static bool put_entry_first(std::vector<AddressRange>& ranges, std::uint64_t entry) {
    const auto hot = std::ranges::find_if(ranges, [entry](const AddressRange& range) {
      return range.low <= entry && entry < range.high;
    });
    if (hot == ranges.end()) {
      return false;
    }
    std::rotate(ranges.begin(), hot, std::next(hot));
    return true;
  }

  const ElfImage& image_;
  std::vector<Subprogram>& found_;
  std::string folder_; // of the unit
};

} // namespace

DebugInfo read_debug_info(const DebugFile& file, const ElfImage& image) {
  DebugInfo info;
  if (const std::optional<OpenDwarf> open = open_dwarf(file)) {
    SubprogramReader reader(image, info.subprograms);
    for_each_unit(open->dwarf.get(), [&](Dwarf_Die unit, Dwarf_Die contents) {
      info.lines.add_unit(&unit, image);
      reader.read_unit(contents, compilation_folder(&unit));
    });
  }
  info.lines.finish();
  std::ranges::stable_sort(info.subprograms, {}, &Subprogram::entry);
  return info;
}

bool may_name_source(const DebugFile& debug_file, std::string_view name) {
  const Result<ElfFile> file = ElfFile::open(debug_file.path, debug_file.identity);
  if (!debug_file.has_dwarf || !file) {
    return false;
  }
  for (const Section& section : read_sections(file->elf(), debug_file.identity.size)) {
    const bool compressed =
        (section.flags & SHF_COMPRESSED) != 0 || section.name.starts_with(".zdebug");
    const bool alternate = section.name == ".gnu_debugaltlink";
    if (compressed || alternate) {
      return true;
    }
    if (section.name != ".debug_line" && section.name != ".debug_line_str" &&
        section.name != ".debug_str") {
      continue;
    }
    const Elf_Data* data = elf_rawdata(elf_getscn(file->elf(), section.index), nullptr);
    if (data != nullptr && data->d_buf != nullptr &&
        ::memmem(data->d_buf, data->d_size, name.data(), name.size()) != nullptr) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> read_unit_names(const DebugFile& file) {
  std::vector<std::string> names;
  if (const std::optional<OpenDwarf> open = open_dwarf(file)) {
    for_each_unit(open->dwarf.get(), [&](Dwarf_Die unit, Dwarf_Die contents) {
      for (Dwarf_Die* die : {&contents, &unit}) {
        if (const char* name = dwarf_diename(die); name != nullptr) {
          names.push_back(normal_path(name, compilation_folder(&unit)));
          break;
        }
      }
    });
  }
  return names;
}

} // namespace ptlens::symbols
