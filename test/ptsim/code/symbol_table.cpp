// ELF symbols by libelf.
#include "code/symbol_table.hpp"

#include <elfutils/libdwelf.h>
#include <gelf.h>

#include <algorithm>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <unistd.h>

namespace ptlens::ptsim {
namespace {

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

struct Candidate {
  Function function;
  int rank = 0; // global before weak before local, so that a name is chosen alike each time
};

int rank_of(unsigned char binding) {
  return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
}

void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header,
                  std::vector<Candidate>& candidates) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) {
    return;
  }
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int index = 0; index < count; ++index) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, index, &symbol) == nullptr) {
      return;
    }
    const int type = GELF_ST_TYPE(symbol.st_info);
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
        name != nullptr) {
      candidates.push_back(
          {{symbol.st_value, symbol.st_size, name}, rank_of(GELF_ST_BIND(symbol.st_info))});
    }
  }
}

std::vector<Function> choose(std::vector<Candidate> candidates) {
  std::ranges::sort(candidates, [](const Candidate& left, const Candidate& right) {
    return std::tie(left.function.address, left.rank, left.function.name) <
           std::tie(right.function.address, right.rank, right.function.name);
  });
  std::vector<Function> functions;
  for (Candidate& candidate : candidates) {
    if (functions.empty() || functions.back().address != candidate.function.address) {
      functions.push_back(std::move(candidate.function));
    }
  }
  for (std::size_t index = 0; index < functions.size(); ++index) {
    if (functions[index].size == 0) {
      functions[index].size = index + 1 < functions.size()
                                  ? functions[index + 1].address - functions[index].address
                                  : 1;
    }
  }
  return functions;
}

std::string_view source_name(std::string_view name) {
  const std::size_t cold = std::min(name.find(".cold"), name.find(".part."));
  return name.substr(0, cold);
}

bool stands_for_jump(std::string_view name) {
  return name.starts_with("__x86_indirect_thunk") || name.starts_with("__x86_return_thunk") ||
         name.starts_with("__llvm_retpoline_") || name.starts_with("_dl_runtime_resolve");
}

} // namespace

SymbolTable SymbolTable::of_file(const std::string& path) {
  SymbolTable table;
  elf_version(EV_CURRENT);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    {
      const ElfHandle elf(elf_begin(file, ELF_C_READ_MMAP, nullptr));
      table.read(elf.get());
    }
    close(file);
  }
  return table;
}

SymbolTable SymbolTable::of_image(std::span<std::byte> image) {
  SymbolTable table;
  elf_version(EV_CURRENT);
  const ElfHandle elf(elf_memory(reinterpret_cast<char*>(image.data()), image.size()));
  table.read(elf.get());
  return table;
}

void SymbolTable::read(void* handle) {
  Elf* elf = static_cast<Elf*>(handle);
  std::size_t string_section = 0;
  std::size_t segment_count = 0;
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF ||
      elf_getshdrstrndx(elf, &string_section) != 0 || elf_getphdrnum(elf, &segment_count) != 0) {
    return;
  }
  std::vector<Candidate> candidates;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) {
      continue;
    }
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) {
      read_symbols(elf, section, header, candidates);
    }
    const char* name = elf_strptr(elf, string_section, header.sh_name);
    if (name != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0 &&
        (std::string_view(name).starts_with(".plt") || std::string_view(name) == ".iplt")) {
      stubs_.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    }
  }
  functions_ = choose(std::move(candidates));
  for (std::size_t index = 0; index < segment_count; ++index) {
    GElf_Phdr header{};
    if (gelf_getphdr(elf, static_cast<int>(index), &header) != nullptr &&
        header.p_type == PT_LOAD) {
      segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr});
    }
  }
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size > 0) {
    const auto* first = static_cast<const std::uint8_t*>(bytes);
    build_id_.assign(first, first + size);
  }
}

const Function* SymbolTable::containing(std::uint64_t address) const {
  auto after = std::ranges::upper_bound(functions_, address, {}, &Function::address);
  // Functions nest rarely and shallowly; a few steps back find the one that reaches far enough.
  for (int steps = 0; steps < 4 && after != functions_.begin(); ++steps) {
    --after;
    if (address - after->address < after->size) {
      return &*after;
    }
  }
  return nullptr;
}

const Function* SymbolTable::named(std::string_view name) const {
  const auto found = std::ranges::find(functions_, name, &Function::name);
  return found == functions_.end() ? nullptr : &*found;
}

bool SymbolTable::is_stub(std::uint64_t address) const {
  const auto holds = [address](const Range& range) {
    return address >= range.begin && address < range.end;
  };
  const Function* function = containing(address);
  return std::ranges::any_of(stubs_, holds) ||
         (function != nullptr && stands_for_jump(function->name));
}

std::optional<std::uint64_t> SymbolTable::address_of_offset(std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    if (offset >= segment.offset && offset - segment.offset < segment.size) {
      return segment.address + (offset - segment.offset);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> SymbolTable::offset_of_address(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (address >= segment.address && address - segment.address < segment.size) {
      return segment.offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

bool same_source_function(std::string_view left, std::string_view right) {
  return source_name(left) == source_name(right);
}

} // namespace ptlens::ptsim
