// Subprograms among the DIEs (DWARF 5, section 3.3). Up to three DIEs describe a definition: the
// concrete one (ranges), its abstract origin (an inlined function's own lines) and the declaration
// in its class. dwarf_attr_integrate looks in that order.
#include "symbols/dwarf/debug_info.hpp"

#include "base/parallel.hpp"
#include "symbols/dwarf/die_attributes.hpp"
#include "symbols/dwarf/dwarf_walk.hpp"
#include "symbols/dwarf/source_path.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace ptlens::symbols {

namespace {

class SubprogramReader {
public:
  SubprogramReader(const ElfImage& image, DebugInfo& info) : image_(image), info_(info) {}

  void read_unit(Dwarf_Die unit, std::string folder) {
    folder_ = std::move(folder);
    for_each_die(unit, [this](Dwarf_Die& die, const std::vector<Dwarf_Die>&) {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_subprogram) {
        read(die);
      }
      return may_contain_subprograms(tag);
    });
  }

private:
  void read(Dwarf_Die die) {
    if (!dwarf_hasattr(&die, DW_AT_low_pc) && !dwarf_hasattr(&die, DW_AT_ranges)) {
      note_inlined(die);
      return;
    }
    Subprogram subprogram;
    subprogram.ranges = code_ranges(die, image_);
    if (subprogram.ranges.empty()) {
      return;
    }
    Dwarf_Addr entry = 0;
    if (dwarf_entrypc(&die, &entry) != 0 || !put_entry_first(subprogram.ranges, entry)) {
      entry = subprogram.ranges.front().low;
    }
    subprogram.entry = entry;
    subprogram.linkage_name = linker_name(die);
    Dwarf_Attribute attribute = {};
    // GCC also marks a closure's operator() as artificial, but its body is the user's.
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
    info_.subprograms.push_back(std::move(subprogram));
  }

  // Adds the abstract instance of a function that was inlined somewhere.
  void note_inlined(Dwarf_Die die) {
    Dwarf_Attribute attribute = {};
    Dwarf_Word kind = DW_INL_not_inlined;
    if (dwarf_formudata(dwarf_attr(&die, DW_AT_inline, &attribute), &kind) != 0 ||
        (kind != DW_INL_inlined && kind != DW_INL_declared_inlined)) {
      return;
    }
    if (const char* name = dwarf_diename(&die); name != nullptr) {
      info_.inlined_names.push_back(without_parameters(name));
    }
  }

  const ElfImage& image_;
  DebugInfo& info_;
  std::string folder_; // of the unit
};

} // namespace

// Line programs and subprograms take about equally long. With two processors, each reads one of
// them, through its own Dwarf handle, because libdw serves one thread at a time. One thread reads
// large files: two handles would hold compressed sections in memory twice.
DebugInfo read_debug_info(const DebugFile& file, const ElfImage& image) {
  constexpr std::uint64_t large = std::uint64_t{256} << 20U; // bytes
  DebugInfo info;
  const std::size_t parts = file.identity.size < large ? parts_of(2, 1) : 1;
  do_parts(parts, [&](std::size_t part) {
    const bool lines = part == 0;
    const bool subprograms = part + 1 == parts;
    if (const std::optional<OpenDwarf> open = open_dwarf(file)) {
      SubprogramReader reader(image, info);
      for_each_unit(open->dwarf.get(), [&](Dwarf_Die unit, Dwarf_Die contents) {
        if (lines) {
          info.lines.add_unit(&unit, image);
        }
        if (subprograms) {
          reader.read_unit(contents, compilation_folder(&unit));
        }
      });
    }
    if (lines) {
      info.lines.finish();
    }
    if (subprograms) {
      std::ranges::sort(info.inlined_names);
      const auto repeats = std::ranges::unique(info.inlined_names);
      info.inlined_names.erase(repeats.begin(), repeats.end());
      std::ranges::stable_sort(info.subprograms, {}, &Subprogram::entry);
    }
  });
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
