// ELF headers, read by libelf. Layout: System V gABI, chapters 4 and 5.
#include "symbols/elf/elf_image.hpp"

#include "symbols/elf/build_id.hpp"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <gelf.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unistd.h>

namespace ptlens::symbols {

namespace {

Error bad(const std::string& path, std::uint64_t offset, std::string message) {
  return Error{.kind = Error::Kind::bad_input,
               .message = std::move(message),
               .file = path,
               .offset = offset,
               .remedy = "build or copy the binary again"};
}

bool is_within(std::uint64_t offset, std::uint64_t size, std::uint64_t file_size) {
  return offset <= file_size && size <= file_size - offset;
}

bool read_exactly(int descriptor, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::pread(descriptor, into.data() + done, into.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(count);
  }
  return true;
}

Result<void> check_header(const std::string& path, const GElf_Ehdr& header, std::uint64_t file_size,
                          bool core) {
  constexpr std::uint64_t type_offset = 16; // e_type, e_machine
  if (header.e_machine != EM_X86_64 && header.e_machine != EM_386) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = fmt::format("built for a processor other than x86 "
                                                        "(ELF machine {})",
                                                        header.e_machine),
                                 .file = path,
                                 .offset = type_offset + 2});
  }
  if (core ? header.e_type != ET_CORE : header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return std::unexpected(Error{
        .kind = Error::Kind::unsupported,
        .message = fmt::format("{} (ELF type {})",
                               core ? "not a core file" : "neither a program nor a shared library",
                               header.e_type),
        .file = path,
        .offset = type_offset,
        .remedy = core ? "pass the kcore file that 'perf record --kcore' wrote"
                       : "pass the linked program or library"});
  }
  if (!is_within(header.e_phoff, std::uint64_t{header.e_phnum} * header.e_phentsize, file_size)) {
    return std::unexpected(
        bad(path, header.e_phoff, "the file is truncated: it ends before its program headers"));
  }
  if (!is_within(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize, file_size)) {
    return std::unexpected(
        bad(path, header.e_shoff, "the file is truncated: it ends before its section headers"));
  }
  return {};
}

} // namespace

bool Section::executable() const {
  return (flags & SHF_ALLOC) != 0 && (flags & SHF_EXECINSTR) != 0 && type == SHT_PROGBITS;
}

std::vector<Section> read_sections(Elf* elf, std::uint64_t file_size) {
  std::vector<Section> sections;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) {
    return sections;
  }
  Elf_Scn* scn = nullptr;
  while ((scn = elf_nextscn(elf, scn)) != nullptr) {
    GElf_Shdr header = {};
    if (gelf_getshdr(scn, &header) == nullptr) {
      continue;
    }
    const bool in_file = header.sh_type != SHT_NOBITS;
    if ((in_file && !is_within(header.sh_offset, header.sh_size, file_size)) ||
        header.sh_size > std::numeric_limits<std::uint64_t>::max() - header.sh_addr) {
      continue;
    }
    const char* name = elf_strptr(elf, names, header.sh_name);
    sections.push_back({.name = name == nullptr ? "" : name,
                        .index = elf_ndxscn(scn),
                        .type = header.sh_type,
                        .flags = header.sh_flags,
                        .address = header.sh_addr,
                        .offset = header.sh_offset,
                        .size = header.sh_size,
                        .entry_size = header.sh_entsize});
  }
  return sections;
}

Result<ElfImage> ElfImage::read(const std::string& path, const ElfFile& file, bool core) {
  ElfImage image;
  image.path_ = path;
  image.identity_ = file.identity();
  const std::uint64_t file_size = file.identity().size;

  GElf_Ehdr header = {};
  if (gelf_getehdr(file.elf(), &header) == nullptr) {
    return std::unexpected(bad(path, 0, "the file is truncated: it ends inside its ELF header"));
  }
  if (Result<void> checked = check_header(path, header, file_size, core); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  image.is_64_bit_ = header.e_machine == EM_X86_64;

  std::size_t count = 0;
  if (elf_getphdrnum(file.elf(), &count) != 0) {
    return std::unexpected(bad(path, header.e_phoff, "the program headers cannot be read"));
  }
  for (std::size_t at = 0; at < count; ++at) {
    const std::uint64_t offset = header.e_phoff + at * header.e_phentsize;
    GElf_Phdr segment = {};
    if (gelf_getphdr(file.elf(), static_cast<int>(at), &segment) == nullptr) {
      return std::unexpected(bad(path, offset, "a program header cannot be read"));
    }
    if (segment.p_type != PT_LOAD) {
      continue;
    }
    if (!is_within(segment.p_offset, segment.p_filesz, file_size)) {
      return std::unexpected(bad(path, offset, "the file is truncated: it ends inside a segment"));
    }
    if (segment.p_filesz > std::numeric_limits<std::uint64_t>::max() - segment.p_vaddr) {
      return std::unexpected(bad(path, offset, "a segment extends beyond the last address"));
    }
    const bool executable = (segment.p_flags & PF_X) != 0;
    image.load_segments_.push_back({.address = segment.p_vaddr,
                                    .file_offset = segment.p_offset,
                                    .file_size = segment.p_filesz,
                                    .executable = executable});
    if (executable) {
      image.code_segments_.push_back({.address = segment.p_vaddr,
                                      .file_offset = segment.p_offset,
                                      .file_size = segment.p_filesz});
    }
  }
  std::ranges::sort(image.code_segments_, {}, &Segment::address);
  image.sections_ = read_sections(file.elf(), file_size);
  for (std::size_t at = 0; at < image.sections_.size(); ++at) {
    if (image.sections_[at].executable()) {
      image.code_sections_.push_back(at);
    }
  }
  std::ranges::stable_sort(image.code_sections_, {},
                           [&image](std::size_t at) { return image.sections_[at].address; });
  image.build_id_ = read_build_id(file.elf());
  return image;
}

const Section* ElfImage::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

const Section* ElfImage::code_section(std::uint64_t address) const {
  const auto start = [this](std::size_t at) { return sections_[at].address; };
  const auto after = std::ranges::upper_bound(code_sections_, address, {}, start);
  if (after == code_sections_.begin()) {
    return nullptr;
  }
  const Section& section = sections_[*std::prev(after)];
  return section.contains(address) ? &section : nullptr;
}

void ElfImage::read_code() const {
  code_.resize(code_segments_.size());
  Result<OpenFile> file = open_file(path_);
  if (!file || file->identity != identity_) {
    return;
  }
  for (std::size_t at = 0; at < code_segments_.size(); ++at) {
    // Without a limit, overlapping headers of a hostile file could make us read the file many
    // times.
    constexpr std::size_t most_segments = 16;
    if (at == most_segments) {
      return;
    }
    std::vector<std::byte> bytes(code_segments_[at].file_size);
    if (read_exactly(file->descriptor.get(), code_segments_[at].file_offset, bytes)) {
      code_[at] = std::move(bytes);
    }
  }
}

std::span<const std::byte> ElfImage::code_at(std::uint64_t address) const {
  std::call_once(*code_once_, [this] { read_code(); });
  for (std::size_t at = 0; at < code_segments_.size(); ++at) {
    const std::uint64_t offset = address - code_segments_[at].address;
    if (address >= code_segments_[at].address && offset < code_[at].size()) {
      return std::span(code_[at]).subspan(offset);
    }
  }
  return {};
}

std::optional<std::vector<std::byte>> ElfImage::data_at(std::uint64_t address,
                                                        std::size_t size) const {
  for (const LoadSegment& segment : load_segments_) {
    const std::uint64_t offset = address - segment.address;
    if (address < segment.address || !is_within(offset, size, segment.file_size)) {
      continue;
    }
    Result<OpenFile> file = open_file(path_);
    std::vector<std::byte> bytes(size);
    if (file && file->identity == identity_ &&
        read_exactly(file->descriptor.get(), segment.file_offset + offset, bytes)) {
      return bytes;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace ptlens::symbols
