// Each stub is identified by its machine code: `jmp *SLOT` by the relocation of SLOT, and the lazy
// half of an IBT stub (`push N; jmp PLT0`) by relocation N. Blocks with neither belong to the stub
// before them; the first block of .plt is the entry into the dynamic linker. Layouts: x86-64 psABI,
// "Procedure Linkage Table"; binutils' bfd/elf64-x86-64.c; lld and mold differ only in sizes.
#include "symbols/elf/plt.hpp"

#include "symbols/machine_code/disassembler.hpp"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace ptlens::symbols {

namespace {

struct Relocations {
  std::unordered_map<std::uint64_t, std::string> by_slot;
  std::vector<std::string> of_plt; // .rela.plt in order, for lazy stubs
};

// The best name of each address.
using NamesByAddress = std::unordered_map<std::uint64_t, const Symbol*>;

NamesByAddress names_by_address(std::span<const Symbol> symbols) {
  NamesByAddress names;
  for (const Symbol& symbol : symbols) {
    const auto [at, added] = names.try_emplace(symbol.address, &symbol);
    if (!added && names_better(symbol, *at->second)) {
      at->second = &symbol;
    }
  }
  return names;
}

std::string name_of_addend(std::uint64_t addend, const NamesByAddress& names) {
  const auto found = names.find(addend);
  return found != names.end() ? found->second->name : fmt::format("*ABS*+{:#x}", addend);
}

std::string without_version(std::string_view name) {
  return std::string(name.substr(0, name.find('@')));
}

struct Entry {
  std::uint64_t slot = 0;
  std::uint64_t symbol = 0;
  std::uint32_t type = 0;
  std::uint64_t addend = 0;
};

std::optional<Entry> read_entry(Elf_Data* data, bool with_addend, int at) {
  if (with_addend) {
    GElf_Rela rela = {};
    if (gelf_getrela(data, at, &rela) == nullptr) {
      return std::nullopt;
    }
    return Entry{.slot = rela.r_offset,
                 .symbol = GELF_R_SYM(rela.r_info),
                 .type = static_cast<std::uint32_t>(GELF_R_TYPE(rela.r_info)),
                 .addend = static_cast<std::uint64_t>(rela.r_addend)};
  }
  GElf_Rel rel = {};
  if (gelf_getrel(data, at, &rel) == nullptr) {
    return std::nullopt;
  }
  return Entry{.slot = rel.r_offset,
               .symbol = GELF_R_SYM(rel.r_info),
               .type = static_cast<std::uint32_t>(GELF_R_TYPE(rel.r_info))};
}

void read_section(Elf* elf, const Section& section, const NamesByAddress& names,
                  Relocations& relocations) {
  Elf_Scn* scn = elf_getscn(elf, section.index);
  GElf_Shdr header = {};
  Elf_Data* data = scn == nullptr ? nullptr : elf_getdata(scn, nullptr);
  if (data == nullptr || gelf_getshdr(scn, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  Elf_Scn* symbol_scn = elf_getscn(elf, header.sh_link);
  GElf_Shdr symbol_header = {};
  Elf_Data* symbol_data = nullptr;
  if (header.sh_link != 0 && symbol_scn != nullptr &&
      gelf_getshdr(symbol_scn, &symbol_header) != nullptr) {
    symbol_data = elf_getdata(symbol_scn, nullptr);
  }
  const bool of_plt = section.name == ".rela.plt" || section.name == ".rel.plt";
  const std::uint64_t count = std::min<std::uint64_t>(data->d_size / header.sh_entsize, INT32_MAX);
  for (int at = 0; at < static_cast<int>(count); ++at) {
    const std::optional<Entry> entry = read_entry(data, section.type == SHT_RELA, at);
    if (!entry) {
      return;
    }
    std::string name;
    GElf_Sym symbol = {};
    const bool relative = entry->type == R_X86_64_IRELATIVE || entry->type == R_386_IRELATIVE;
    if (entry->symbol != 0 && symbol_data != nullptr &&
        gelf_getsym(symbol_data, static_cast<int>(entry->symbol), &symbol) != nullptr) {
      const char* text = elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
      name = text == nullptr ? "" : without_version(text);
    } else if (entry->symbol == 0 && relative && entry->addend != 0) {
      name = without_version(name_of_addend(entry->addend, names));
    }
    if (of_plt) {
      relocations.of_plt.push_back(name);
    }
    if (!name.empty()) {
      relocations.by_slot.try_emplace(entry->slot, std::move(name));
    }
  }
}

Relocations read_relocations(Elf* elf, const ElfImage& image, std::span<const Symbol> symbols) {
  Relocations relocations;
  const NamesByAddress names = names_by_address(symbols);
  constexpr int most_sections = 16;
  int sections = 0;
  for (const Section& section : image.sections()) {
    if ((section.type == SHT_RELA || section.type == SHT_REL) && (section.flags & SHF_ALLOC) != 0 &&
        sections++ < most_sections) {
      read_section(elf, section, names, relocations);
    }
  }
  return relocations;
}

// Returns the name that the code of one block gives the stub; empty where it gives none.
std::string name_of_block(std::span<const std::byte> code, std::uint64_t address,
                          const ElfImage& image, const Relocations& relocations) {
  const Disassembler disassembler(image.is_64_bit());
  const Section* got = image.section(".got.plt");
  std::optional<std::uint64_t> pushed;
  std::size_t at = 0;
  while (at < code.size()) {
    const std::optional<Instruction> instruction =
        disassembler.decode(code.subspan(at), address + at);
    if (!instruction) {
      return {};
    }
    at += instruction->length;
    if (instruction->kind == Instruction::Kind::push && instruction->immediate) {
      pushed = instruction->immediate;
    } else if (instruction->kind == Instruction::Kind::jump) {
      if (instruction->through_memory && instruction->through_memory->index == 0) {
        std::uint64_t slot = instruction->through_memory->displacement;
        if (instruction->through_memory->base == Disassembler::register_ebx() && got != nullptr) {
          slot += got->address;
        } else if (instruction->through_memory->base != 0) {
          return {};
        }
        const auto found = relocations.by_slot.find(slot);
        return found == relocations.by_slot.end() ? std::string() : found->second;
      }
      const bool lazy =
          image.is_64_bit() && instruction->target && pushed && *pushed < relocations.of_plt.size();
      return lazy ? relocations.of_plt[*pushed] : std::string();
    }
  }
  return {};
}

// Returns the distance in bytes from one stub to the next. Linkers do not always fill in
// sh_entsize. Stubs without a lazy half take 8 bytes; then the code of the second one gives it a
// name.
std::uint64_t stride_of(const Section& section, std::span<const std::byte> code,
                        const ElfImage& image, const Relocations& relocations) {
  constexpr std::uint64_t usual = 16;
  constexpr std::uint64_t compact = 8;
  if (section.entry_size == compact || section.entry_size == usual) {
    return section.entry_size;
  }
  const auto names_itself = [&](std::uint64_t at) {
    return at + compact <= code.size() &&
           !name_of_block(code.subspan(at, compact), section.address + at, image, relocations)
                .empty();
  };
  return names_itself(0) && (code.size() == compact || names_itself(compact)) ? compact : usual;
}

void read_stubs(const Section& section, const ElfImage& image, const Relocations& relocations,
                std::vector<PltStub>& stubs) {
  const std::span<const std::byte> code = image.code_at(section.address);
  const std::uint64_t size = std::min<std::uint64_t>(section.size, code.size());
  const std::uint64_t stride = stride_of(section, code.first(size), image, relocations);
  const std::size_t first = stubs.size();
  for (std::uint64_t at = 0; at < size; at += stride) {
    const std::uint64_t length = std::min(stride, size - at);
    std::string target =
        name_of_block(code.subspan(at, length), section.address + at, image, relocations);
    if (target.empty() && stubs.size() > first) {
      stubs.back().size += length;
    } else {
      stubs.push_back(
          {.address = section.address + at, .size = length, .target = std::move(target)});
    }
  }
}

} // namespace

bool is_plt_section(const Section& section) {
  return section.executable() && (section.name == ".plt" || section.name == ".plt.sec" ||
                                  section.name == ".plt.got" || section.name == ".plt.bnd");
}

std::vector<PltStub> read_plt_stubs(Elf* elf, const ElfImage& image,
                                    std::span<const Symbol> symbols) {
  std::vector<PltStub> stubs;
  if (std::ranges::none_of(image.sections(), is_plt_section)) {
    return stubs;
  }
  const Relocations relocations = read_relocations(elf, image, symbols);
  for (const Section& section : image.sections()) {
    if (is_plt_section(section)) {
      read_stubs(section, image, relocations, stubs);
    }
  }
  std::ranges::stable_sort(stubs, {}, &PltStub::address);
  std::uint64_t end = 0;
  std::erase_if(stubs, [&end](const PltStub& stub) {
    const bool overlaps = stub.address < end;
    end = overlaps ? end : stub.address + stub.size;
    return overlaps;
  });
  return stubs;
}

} // namespace ptlens::symbols
