// What breaks under hooks, by the names that the program uses:
// - switching stacks: a hooked return goes to the thread's latest open call, on whichever stack;
// - unwinding that does not pass __cxa_throw of a shared library, where uftrace puts the return
//   addresses back: Rust's panics, pthread_cancel, a C++ runtime inside the program;
// - Go, which moves stacks and reads return addresses.
#include "record/uftrace/program_hooks.hpp"

#include "record/targets/loader.hpp"
#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/machine_code/disassembler.hpp"

#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>

namespace ptlens::record {
namespace {

constexpr std::uint64_t patched_bytes =
    16; // at the entry; a call takes 5, a whole instruction more

struct Hazard {
  std::string_view symbol; // that the program imports
  const char* what;
};

constexpr std::array<Hazard, 8> hazards = {{
    {"swapcontext", "switches stacks (swapcontext)"},
    {"setcontext", "switches stacks (setcontext)"},
    {"makecontext", "switches stacks (makecontext)"},
    {"jump_fcontext", "switches stacks (Boost.Context)"},
    {"ontop_fcontext", "switches stacks (Boost.Context)"},
    {"_Unwind_RaiseException", "unwinds its stack itself (as Rust programs do)"},
    {"_Unwind_ForcedUnwind", "unwinds its stack itself"},
    {"pthread_cancel", "cancels threads, which unwinds their stacks"},
}};

Error unsupported(const std::string& program, std::string message, std::string remedy) {
  return {.kind = Error::Kind::unsupported,
          .message = std::move(message),
          .file = program,
          .remedy = std::move(remedy)};
}

Error endangered(const std::string& program, std::string_view what) {
  return unsupported(program,
                     fmt::format("the program {}, and uftrace's hooks could make it crash", what),
                     "use --backend uprobe");
}

// Returns the names that the program takes from libraries.
std::set<std::string> imports_of(Elf* elf) {
  std::set<std::string> names;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM ||
        header.sh_entsize == 0) {
      continue;
    }
    Elf_Data* const data = elf_getdata(section, nullptr);
    const std::size_t count = data == nullptr ? 0 : data->d_size / header.sh_entsize;
    for (std::size_t index = 0; index < count; ++index) {
      GElf_Sym symbol;
      const bool read = gelf_getsym(data, static_cast<int>(index), &symbol) != nullptr;
      const char* const name = read && symbol.st_shndx == SHN_UNDEF
                                   ? elf_strptr(elf, header.sh_link, symbol.st_name)
                                   : nullptr;
      if (name != nullptr) {
        names.insert(name);
      }
    }
  }
  return names;
}

bool has_section(const std::vector<symbols::Section>& sections, std::string_view name) {
  return std::ranges::find(sections, name, &symbols::Section::name) != sections.end();
}

Result<void> check_hazards(const std::string& program, const std::set<std::string>& imports,
                           const std::vector<symbols::Section>& sections,
                           const symbols::Binary& binary) {
  if (has_section(sections, ".gopclntab") || has_section(sections, ".note.go.buildid")) {
    return std::unexpected(endangered(program, "is written in Go"));
  }
  for (const Hazard& hazard : hazards) {
    if (imports.contains(std::string(hazard.symbol))) {
      return std::unexpected(endangered(program, hazard.what));
    }
  }
  for (const symbols::Function& function : binary.functions()) {
    if (function.linkage_name == "__cxa_throw" && function.kind == symbols::Function::Kind::code) {
      return std::unexpected(
          endangered(program, "contains the C++ runtime (-static-libstdc++), which unwinds"));
    }
  }
  return {};
}

} // namespace

std::vector<std::string> unsafe_to_patch(const symbols::Binary& binary) {
  const symbols::Disassembler disassembler(binary.is_64_bit());
  std::vector<std::string> names;
  for (const symbols::Function& function : binary.functions()) {
    bool unsafe = false;
    for (std::size_t part = 1; part < function.ranges.size() && !unsafe; ++part) {
      const symbols::AddressRange& range = function.ranges[part];
      const auto code = binary.code_at(range.low);
      const std::uint64_t size = std::min<std::uint64_t>(code.size(), range.high - range.low);
      for (std::uint64_t at = 0; at < size && !unsafe;) {
        const auto instruction = disassembler.decode(code.subspan(at), range.low + at);
        if (!instruction) {
          break;
        }
        unsafe = instruction->is_jump() && instruction->target &&
                 *instruction->target > function.address &&
                 *instruction->target < function.address + patched_bytes;
        at += instruction->length;
      }
    }
    if (unsafe) {
      names.push_back(function.linkage_name);
    }
  }
  return names;
}

Result<ProgramHooks> program_hooks(const std::string& program) {
  const auto file = symbols::ElfFile::open(program);
  if (!file) {
    return std::unexpected(file.error());
  }
  const auto binary = symbols::Binary::open(program);
  if (!binary) {
    return std::unexpected(binary.error());
  }
  if (interpreter_of(program).empty()) {
    return std::unexpected(unsupported(program,
                                       "the program is linked statically, and uftrace cannot load "
                                       "its hooks into it",
                                       "link it dynamically, or use --backend uprobe"));
  }
  const auto imports = imports_of(file->elf());
  const auto sections = symbols::read_sections(file->elf(), file->identity().size);
  if (auto checked = check_hazards(program, imports, sections, **binary); !checked) {
    return std::unexpected(checked.error());
  }
  ProgramHooks hooks;
  hooks.compiled_in =
      std::ranges::any_of(std::array{"mcount", "_mcount", "__fentry__", "__cyg_profile_func_enter"},
                          [&](const char* name) { return imports.contains(name); });
  if (hooks.compiled_in) {
    return hooks;
  }
  if (!has_section(sections, ".symtab")) {
    return std::unexpected(unsupported(program,
                                       "the program has no symbol table, so that uftrace does not "
                                       "know where its functions begin",
                                       "build it without -s and do not strip it"));
  }
  hooks.unsafe = unsafe_to_patch(**binary);
  return hooks;
}

} // namespace ptlens::record
