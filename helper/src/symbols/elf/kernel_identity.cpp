// A core of the running kernel has notes, and VMCOREINFO in them names the build-id. perf's copy
// has no notes of its own; it contains the kernel's notes only where they are among its code.
#include "symbols/elf/kernel_identity.hpp"

#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/kallsyms.hpp"

#include <gelf.h>

#include <charconv>
#include <fstream>
#include <iterator>

namespace ptlens::symbols {
namespace {

constexpr std::uint64_t most_note_bytes = 1 << 20;
constexpr std::size_t longest_build_id = 64;

using Bytes = std::vector<std::uint8_t>;

// Returns the id of the line "BUILD-ID=00ff..." in vmcoreinfo; empty where there is none.
Bytes build_id_in(std::string_view vmcoreinfo) {
  constexpr std::string_view key = "BUILD-ID=";
  const std::size_t at = vmcoreinfo.find(key);
  if (at == std::string_view::npos) {
    return {};
  }
  std::string_view digits = vmcoreinfo.substr(at + key.size());
  digits = digits.substr(0, digits.find_first_of(std::string_view("\n\0", 2)));
  Bytes bytes;
  for (; digits.size() >= 2 && bytes.size() < longest_build_id; digits.remove_prefix(2)) {
    std::uint8_t byte = 0;
    const char* const first = digits.data();
    const auto [end, error] = std::from_chars(first, first + 2, byte, 16);
    if (error != std::errc{} || end != first + 2) {
      return {};
    }
    bytes.push_back(byte);
  }
  return bytes;
}

// Returns the build-id in a sequence of notes of the file; empty where no note has one.
Bytes build_id_of_notes(Elf* elf, std::uint64_t offset, std::uint64_t size) {
  if (size == 0 || size > most_note_bytes || offset > INT64_MAX) {
    return {};
  }
  Elf_Data* const data =
      elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), size, ELF_T_NHDR);
  if (data == nullptr) {
    return {};
  }
  const std::string_view bytes(static_cast<const char*>(data->d_buf), data->d_size);
  GElf_Nhdr note{};
  std::size_t name = 0;
  std::size_t content = 0;
  for (std::size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &content)) != 0;) {
    const std::string_view owner = bytes.substr(name, note.n_namesz);
    const std::string_view text = bytes.substr(content, note.n_descsz);
    if (owner == std::string_view("GNU\0", 4) && note.n_type == NT_GNU_BUILD_ID &&
        text.size() <= longest_build_id) {
      return {text.begin(), text.end()};
    }
    if (owner.starts_with("VMCOREINFO")) {
      if (Bytes found = build_id_in(text); !found.empty()) {
        return found;
      }
    }
  }
  return {};
}

struct Names {
  std::optional<std::uint64_t> reference;
  std::uint64_t notes_begin = 0;
  std::uint64_t notes_end = 0;
};

Names read_names(const std::string& kallsyms, std::string_view reference) {
  Names names;
  std::ifstream stream(kallsyms);
  for (std::string text; std::getline(stream, text);) {
    const auto line = read_kallsyms_line(text);
    if (!line) {
      continue;
    }
    if (line->name == reference && !names.reference) {
      names.reference = line->address;
    } else if (line->name == "__start_notes") {
      names.notes_begin = line->address;
    } else if (line->name == "__stop_notes") {
      names.notes_end = line->address;
    }
  }
  return names;
}

} // namespace

Result<KernelIdentity> identify_kernel(const std::string& kcore, const std::string& kallsyms,
                                       std::string_view reference) {
  const Result<ElfFile> file = ElfFile::open(kcore);
  if (!file) {
    return std::unexpected(file.error());
  }
  if (const auto opened = open_file(kallsyms); !opened) {
    return std::unexpected(opened.error());
  }
  const Names names = read_names(kallsyms, reference);
  KernelIdentity identity{.build_id = {}, .reference = names.reference};
  std::size_t count = 0;
  if (elf_getphdrnum(file->elf(), &count) != 0) {
    return identity;
  }
  for (std::size_t at = 0; at < count && identity.build_id.empty(); ++at) {
    GElf_Phdr header{};
    if (gelf_getphdr(file->elf(), static_cast<int>(at), &header) == nullptr) {
      continue;
    }
    if (header.p_type == PT_NOTE) {
      identity.build_id = build_id_of_notes(file->elf(), header.p_offset, header.p_filesz);
    } else if (header.p_type == PT_LOAD && names.notes_begin >= header.p_vaddr &&
               names.notes_begin < names.notes_end &&
               names.notes_end - header.p_vaddr <= header.p_filesz) {
      identity.build_id =
          build_id_of_notes(file->elf(), header.p_offset + (names.notes_begin - header.p_vaddr),
                            names.notes_end - names.notes_begin);
    }
  }
  return identity;
}

} // namespace ptlens::symbols
