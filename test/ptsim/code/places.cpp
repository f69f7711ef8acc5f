// Address → mapping → file offset → ELF address → function.
#include "code/places.hpp"

#include <algorithm>

namespace ptlens::ptsim {

void Places::set_mappings(std::vector<Mapping> mappings, std::vector<std::byte> vdso) {
  mappings_ = std::move(mappings);
  vdso_ = std::move(vdso);
  known_.clear();
}

const SymbolTable& Places::symbols(const std::string& path) {
  std::shared_ptr<SymbolTable>& table = tables_[path];
  if (!table) {
    table = std::make_shared<SymbolTable>(path == "[vdso]" ? SymbolTable::of_image(vdso_)
                                                           : SymbolTable::of_file(path));
  }
  return *table;
}

const Place& Places::at(std::uint64_t address) {
  const auto [entry, added] = known_.try_emplace(address);
  Place& place = entry->second;
  if (!added) {
    return place;
  }
  place.binary = "[unknown]";
  place.entry = address;
  place.elf_address = address;
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin() || address >= std::prev(after)->end) {
    return place;
  }
  const Mapping& mapping = *std::prev(after);
  place.binary = mapping.path;
  const SymbolTable& table = symbols(mapping.path);
  const auto elf_address = table.address_of_offset(address - mapping.start + mapping.file_offset);
  if (!elf_address) {
    return place;
  }
  place.elf_address = *elf_address;
  place.stub = table.is_stub(*elf_address);
  if (const Function* function = table.containing(*elf_address)) {
    place.symbol = function->name;
    place.at_entry = function->address == *elf_address;
    place.entry = address - (*elf_address - function->address);
    place.elf_address = function->address;
  }
  return place;
}

std::uint64_t Places::find(const std::string& binary, const std::string& symbol) {
  const Function* function = symbols(binary).named(symbol);
  return function == nullptr ? 0 : find(binary, function->address);
}

std::uint64_t Places::find(const std::string& binary, std::uint64_t elf_address) {
  for (const Mapping& mapping : mappings_) {
    if (mapping.path != binary) {
      continue;
    }
    const auto first = symbols(binary).address_of_offset(mapping.file_offset);
    if (first && elf_address >= *first && elf_address - *first < mapping.end - mapping.start) {
      return mapping.start + (elf_address - *first);
    }
  }
  return 0;
}

} // namespace ptlens::ptsim
