// .gnu.version has a number for each dynamic symbol, and .gnu.version_d the names of the numbers
// (Linux Standard Base, "Symbol Versioning").
#include "symbols/elf/symbol_versions.hpp"

#include "symbols/elf/elf_image.hpp"

#include <gelf.h>

#include <algorithm>

namespace ptlens::symbols {
namespace {

constexpr std::uint16_t hidden_bit = 0x8000;
constexpr std::size_t longest_version = 256;

struct Table {
  Elf_Data* data = nullptr;
  GElf_Shdr header = {};
};

Table table_of(Elf* elf, const std::vector<Section>& sections, std::uint32_t type) {
  Table table;
  const auto section = std::ranges::find(sections, type, &Section::type);
  Elf_Scn* const scn = section == sections.end() ? nullptr : elf_getscn(elf, section->index);
  if (scn != nullptr && gelf_getshdr(scn, &table.header) != nullptr) {
    table.data = elf_getdata(scn, nullptr);
  }
  return table;
}

std::map<std::uint32_t, std::string> defined_versions(Elf* elf, const Table& table) {
  std::map<std::uint32_t, std::string> names;
  const std::uint64_t end =
      table.data == nullptr ? 0 : std::min<std::uint64_t>(table.data->d_size, INT32_MAX);
  for (std::uint64_t at = 0; at < end && names.size() < hidden_bit;) {
    GElf_Verdef definition = {};
    GElf_Verdaux name = {};
    if (gelf_getverdef(table.data, static_cast<int>(at), &definition) == nullptr ||
        definition.vd_aux >= end - at ||
        gelf_getverdaux(table.data, static_cast<int>(at + definition.vd_aux), &name) == nullptr) {
      break;
    }
    const char* const text = elf_strptr(elf, table.header.sh_link, name.vda_name);
    // The first version, of the file itself, is no version of its symbols.
    if (text != nullptr && (definition.vd_flags & VER_FLG_BASE) == 0) {
      names.try_emplace(definition.vd_ndx, std::string(text).substr(0, longest_version));
    }
    if (definition.vd_next == 0) {
      break;
    }
    at += definition.vd_next;
  }
  return names;
}

} // namespace

SymbolVersions::SymbolVersions(Elf* elf, std::uint64_t file_size) {
  const std::vector<Section> sections = read_sections(elf, file_size);
  const Table numbers = table_of(elf, sections, SHT_GNU_versym);
  names_ = defined_versions(elf, table_of(elf, sections, SHT_GNU_verdef));
  if (numbers.data == nullptr || names_.empty()) {
    return;
  }
  numbers_.resize(std::min<std::size_t>(numbers.data->d_size / sizeof(std::uint16_t), INT32_MAX));
  for (std::size_t index = 0; index < numbers_.size(); ++index) {
    GElf_Versym number = 0;
    if (gelf_getversym(numbers.data, static_cast<int>(index), &number) == nullptr) {
      break;
    }
    numbers_[index] = number;
  }
}

std::string SymbolVersions::of(std::size_t index) const {
  if (index >= numbers_.size()) {
    return {};
  }
  const std::uint16_t number = numbers_[index];
  const auto name = names_.find(number & ~std::uint32_t{hidden_bit});
  return name == names_.end() ? std::string()
                              : ((number & hidden_bit) != 0 ? "@" : "@@") + name->second;
}

} // namespace ptlens::symbols
