// System V ABI, "Symbol Table".
#include "record/targets/elf_symbols.hpp"

#include "record/processes/descriptor.hpp"

#include <gelf.h>
#include <libelf.h>

#include <fcntl.h>
#include <memory>
#include <string_view>

namespace ptlens::record {
namespace {

struct Sections {
  Elf_Data* symbols = nullptr;
  std::size_t strings = 0; // index of the section with the names
};

bool is_function(const GElf_Sym& symbol) {
  const unsigned type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

template <class Visit>
void each_symbol(Elf* elf, const Sections& sections, const Visit& visit) {
  GElf_Sym symbol;
  for (int index = 1;
       sections.symbols != nullptr && gelf_getsym(sections.symbols, index, &symbol) != nullptr;
       ++index) {
    const char* const name = elf_strptr(elf, sections.strings, symbol.st_name);
    if (name != nullptr && *name != '\0') {
      visit(std::string_view(name), symbol);
    }
  }
}

} // namespace

ElfSymbols read_elf_symbols(const std::string& path) {
  ElfSymbols result;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || elf_version(EV_CURRENT) == EV_NONE) {
    return result;
  }
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr),
                                                elf_end);
  std::size_t names = 0;
  if (!elf || elf_getshdrstrndx(elf.get(), &names) != 0) {
    return result;
  }
  Sections dynamic;
  Sections linked;
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) {
      continue;
    }
    const char* const name = elf_strptr(elf.get(), names, header.sh_name);
    const std::string_view section_name = name == nullptr ? "" : name;
    result.go |= section_name == ".gopclntab" || section_name == ".go.buildinfo" ||
                 section_name == ".note.go.buildid";
    result.dynamic |= header.sh_type == SHT_DYNAMIC;
    if (header.sh_type == SHT_DYNSYM) {
      dynamic.symbols = elf_getdata(section, nullptr);
      dynamic.strings = header.sh_link;
    } else if (header.sh_type == SHT_SYMTAB) {
      linked.symbols = elf_getdata(section, nullptr);
      linked.strings = header.sh_link;
    }
  }
  each_symbol(elf.get(), dynamic, [&result](std::string_view name, const GElf_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF) {
      result.imported.emplace(name);
    }
  });
  if (!result.dynamic) {
    each_symbol(elf.get(), linked, [&result](std::string_view name, const GElf_Sym& symbol) {
      if (symbol.st_shndx != SHN_UNDEF && is_function(symbol)) {
        result.linked.emplace(name);
      }
    });
  }
  return result;
}

} // namespace ptlens::record
