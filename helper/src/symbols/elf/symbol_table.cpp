// Symbol tables, read by libelf. Layout: System V gABI, chapter 4, "Symbol Table".
#include "symbols/elf/symbol_table.hpp"

#include "symbols/elf/symbol_versions.hpp"

#include <gelf.h>

#include <algorithm>
#include <tuple>

namespace ptlens::symbols {

namespace {

Symbol::Binding binding_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
  case STB_LOCAL:
    return Symbol::Binding::local;
  case STB_WEAK:
    return Symbol::Binding::weak;
  default:
    return Symbol::Binding::global;
  }
}

// Checks for labels of assembly without a type. Compilers' own markers are hidden, local or begin
// with a dot.
bool is_exported_label(const GElf_Sym& symbol, std::string_view name) {
  const unsigned visibility = GELF_ST_VISIBILITY(symbol.st_other);
  return GELF_ST_TYPE(symbol.st_info) == STT_NOTYPE && GELF_ST_BIND(symbol.st_info) != STB_LOCAL &&
         visibility != STV_HIDDEN && visibility != STV_INTERNAL && !name.starts_with('.') &&
         !name.starts_with('$');
}

// `versions`: of .dynsym; nullptr for .symtab.
void read_table(Elf* elf, const Section& section, const ElfImage& image,
                const SymbolVersions* versions, std::vector<Symbol>& symbols) {
  Elf_Scn* scn = elf_getscn(elf, section.index);
  GElf_Shdr header = {};
  Elf_Data* data = scn == nullptr ? nullptr : elf_getdata(scn, nullptr);
  if (data == nullptr || gelf_getshdr(scn, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  std::uint32_t files = 0;
  std::uint32_t source_file = 0;
  const Section* last = nullptr;
  const std::uint64_t count = data->d_size / header.sh_entsize;
  for (std::uint64_t at = 1; at < count && at < INT32_MAX; ++at) {
    GElf_Sym symbol = {};
    if (gelf_getsym(data, static_cast<int>(at), &symbol) == nullptr) {
      break;
    }
    const unsigned type = GELF_ST_TYPE(symbol.st_info);
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (type == STT_FILE) {
      // After a file without a name, GNU ld lists global symbols that it made local.
      const bool named = name != nullptr && *name != '\0';
      source_file = named ? ++files : 0;
      continue;
    }
    if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
        symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) {
      continue;
    }
    if (last == nullptr || !last->contains(symbol.st_value)) {
      last = image.code_section(symbol.st_value);
    }
    if (last == nullptr || name == nullptr || *name == '\0' ||
        (type == STT_NOTYPE && !is_exported_label(symbol, name))) {
      continue;
    }
    symbols.push_back(
        {.name = name,
         .address = symbol.st_value,
         .size = std::min<std::uint64_t>(symbol.st_size, last->end() - symbol.st_value),
         .section_end = last->end(),
         .source_file = GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? source_file : 0,
         .binding = binding_of(symbol),
         .indirect = type == STT_GNU_IFUNC,
         .exported = versions != nullptr && GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
         .version = versions == nullptr ? std::string() : versions->of(at)});
  }
}

std::size_t leading_underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

} // namespace

std::vector<Symbol> read_function_symbols(Elf* elf, std::uint64_t file_size,
                                          const ElfImage& image) {
  std::vector<Symbol> symbols;
  const std::vector<Section> sections = read_sections(elf, file_size);
  const SymbolVersions versions(elf, file_size);
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const auto table = std::ranges::find(sections, type, &Section::type);
    if (table != sections.end()) {
      read_table(elf, *table, image, type == SHT_DYNSYM ? &versions : nullptr, symbols);
    }
  }
  return symbols;
}

bool names_better(const Symbol& one, const Symbol& other) {
  const auto rank = [](const Symbol& symbol) {
    return std::tuple(symbol.size == 0, symbol.binding == Symbol::Binding::weak,
                      symbol.binding == Symbol::Binding::local, leading_underscores(symbol.name),
                      -static_cast<std::int64_t>(symbol.name.size()));
  };
  const auto ours = rank(one);
  const auto theirs = rank(other);
  return ours != theirs ? ours < theirs : one.name < other.name;
}

} // namespace ptlens::symbols
