// Opening of debug files by libdw.
#include "symbols/dwarf/dwarf_walk.hpp"

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

} // namespace ptlens::symbols
