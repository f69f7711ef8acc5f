// ELF by libelf. Layouts: System V gABI, chapters 4 and 5; x86-64 psABI for relocations.
#include "synth/elf_code.hpp"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <tuple>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::uint64_t address_limit = std::uint64_t{1} << 32U;

int rank_of(unsigned char info) {
  const int type = GELF_ST_TYPE(info);
  const int kind = type == STT_FUNC ? 0 : 4;
  const int binding = GELF_ST_BIND(info);
  return kind + (binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2);
}

} // namespace

struct ElfCode::Handle {
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  std::unique_ptr<Elf, End> elf;
};

Result<ElfCode> ElfCode::read(const std::string& path) {
  ElfCode code;
  code.path_ = path;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = "cannot be read",
                                 .file = path,
                                 .remedy = "name an x86-64 program or library"});
  }
  code.image_.resize(static_cast<std::size_t>(file.tellg()));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(code.image_.data()),
            static_cast<std::streamsize>(code.image_.size()));
  elf_version(EV_CURRENT);
  const Handle handle{std::unique_ptr<Elf, Handle::End>(
      elf_memory(reinterpret_cast<char*>(code.image_.data()), code.image_.size()))};
  GElf_Ehdr header{};
  if (!handle.elf || elf_kind(handle.elf.get()) != ELF_K_ELF ||
      gelf_getehdr(handle.elf.get(), &header) == nullptr) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input, .message = "is no ELF file", .file = path});
  }
  if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported, .message = "is not x86-64 code", .file = path});
  }
  code.position_independent_ = header.e_type == ET_DYN;
  code.read_segments(handle);
  if (code.segments_.empty()) {
    return std::unexpected(Error{
        .kind = Error::Kind::unsupported, .message = "has no code below 4 GiB", .file = path});
  }
  code.read_sections(handle);
  code.sort_symbols();
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(handle.elf.get(), &bytes);
  if (size > 0) {
    const auto* first = static_cast<const std::uint8_t*>(bytes);
    code.build_id_.assign(first, first + size);
  }
  return code;
}

void ElfCode::read_segments(const Handle& handle) {
  std::size_t count = 0;
  if (elf_getphdrnum(handle.elf.get(), &count) != 0) {
    return;
  }
  for (std::size_t index = 0; index < count; ++index) {
    GElf_Phdr header{};
    if (gelf_getphdr(handle.elf.get(), static_cast<int>(index), &header) == nullptr ||
        header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 ||
        header.p_offset > image_.size() || header.p_filesz > image_.size() - header.p_offset ||
        header.p_filesz >= address_limit || header.p_vaddr >= address_limit - header.p_filesz) {
      continue;
    }
    segments_.push_back({static_cast<std::uint32_t>(header.p_vaddr),
                         static_cast<std::uint32_t>(header.p_filesz), header.p_offset});
  }
}

void ElfCode::read_sections(const Handle& handle) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(handle.elf.get(), &names) != 0) {
    return;
  }
  for (Elf_Scn* section = elf_nextscn(handle.elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(handle.elf.get(), section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) {
      continue;
    }
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
      read_symbols(handle, section, header.sh_type == SHT_DYNSYM);
    } else if (header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) != 0) {
      read_relocations(handle, section);
    }
    const char* name = elf_strptr(handle.elf.get(), names, header.sh_name);
    const std::string_view text = name == nullptr ? "" : name;
    if ((header.sh_flags & SHF_EXECINSTR) != 0 && (text.starts_with(".plt") || text == ".iplt") &&
        header.sh_addr < address_limit && header.sh_size < address_limit) {
      stub_sections_.push_back({static_cast<std::uint32_t>(header.sh_addr),
                                static_cast<std::uint32_t>(header.sh_size), header.sh_offset});
    }
  }
}

void ElfCode::read_symbols(const Handle& handle, void* section, bool dynamic) {
  auto* of = static_cast<Elf_Scn*>(section);
  GElf_Shdr header{};
  Elf_Data* data = elf_getdata(of, nullptr);
  if (data == nullptr || gelf_getshdr(of, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int index = 0; index < count; ++index) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, index, &symbol) == nullptr) {
      return;
    }
    const int type = GELF_ST_TYPE(symbol.st_info);
    const char* name = elf_strptr(handle.elf.get(), header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0' || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_shndx == SHN_ABS || symbol.st_value >= address_limit ||
        symbol.st_size >= address_limit - symbol.st_value ||
        (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)) {
      continue;
    }
    const auto address = static_cast<std::uint32_t>(symbol.st_value);
    if (code_at(address).empty()) {
      continue;
    }
    if (dynamic && type == STT_FUNC) {
      exports_.try_emplace(name, address);
    }
    ranked_.push_back({{address, static_cast<std::uint32_t>(symbol.st_size), name,
                        type == STT_FUNC && symbol.st_size != 0},
                       rank_of(symbol.st_info)});
  }
}

void ElfCode::sort_symbols() {
  std::ranges::sort(ranked_, [](const RankedSymbol& one, const RankedSymbol& other) {
    return std::tie(one.symbol.address, one.rank, one.symbol.name) <
           std::tie(other.symbol.address, other.rank, other.symbol.name);
  });
  for (RankedSymbol& ranked : ranked_) {
    if (!symbols_.empty() && symbols_.back().address == ranked.symbol.address) {
      CodeSymbol& known = symbols_.back();
      ++known.alias_count;
      known.size = std::max(known.size, ranked.symbol.size);
    } else {
      symbols_.push_back(std::move(ranked.symbol));
    }
  }
  ranked_ = {};
}

void ElfCode::read_relocations(const Handle& handle, void* section) {
  auto* of = static_cast<Elf_Scn*>(section);
  GElf_Shdr header{};
  GElf_Shdr symbols_header{};
  Elf_Data* data = elf_getdata(of, nullptr);
  if (data == nullptr || gelf_getshdr(of, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  Elf_Scn* symbols = elf_getscn(handle.elf.get(), header.sh_link);
  Elf_Data* symbols_data = symbols == nullptr ? nullptr : elf_getdata(symbols, nullptr);
  if (symbols_data == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr) {
    return;
  }
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int index = 0; index < count; ++index) {
    GElf_Rela relocation{};
    GElf_Sym symbol{};
    if (gelf_getrela(data, index, &relocation) == nullptr) {
      return;
    }
    const auto type = GELF_R_TYPE(relocation.r_info);
    if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
        relocation.r_offset >= address_limit ||
        gelf_getsym(symbols_data, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol) ==
            nullptr) {
      continue;
    }
    const char* name = elf_strptr(handle.elf.get(), symbols_header.sh_link, symbol.st_name);
    if (name != nullptr) {
      slots_.try_emplace(static_cast<std::uint32_t>(relocation.r_offset), name);
    }
  }
}

std::span<const std::byte> ElfCode::code_at(std::uint32_t address) const {
  for (const CodeSegment& segment : segments_) {
    if (address >= segment.address && address - segment.address < segment.size) {
      return std::span(image_)
          .subspan(segment.file_offset, segment.size)
          .subspan(address - segment.address);
    }
  }
  return {};
}

std::optional<std::size_t> ElfCode::symbol_before(std::uint32_t address) const {
  const auto after = std::ranges::upper_bound(symbols_, address, {}, &CodeSymbol::address);
  if (after == symbols_.begin()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(after - symbols_.begin()) - 1;
}

std::optional<std::size_t> ElfCode::symbol_at(std::uint32_t address) const {
  const auto found = symbol_before(address);
  return found && symbols_[*found].address == address ? found : std::nullopt;
}

bool ElfCode::is_stub(std::uint32_t address) const {
  return std::ranges::any_of(stub_sections_, [address](const CodeSegment& section) {
    return address >= section.address && address - section.address < section.size;
  });
}

std::string_view ElfCode::name_of_slot(std::uint32_t slot) const {
  const auto found = slots_.find(slot);
  return found == slots_.end() ? std::string_view{} : std::string_view(found->second);
}

std::optional<std::uint32_t> ElfCode::exported(std::string_view name) const {
  const auto found = exports_.find(name);
  return found == exports_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace ptlens::ptsim::synth
