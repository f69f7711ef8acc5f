// The program headers, which the auxiliary vector points to, lead to the dynamic section, its
// DT_DEBUG entry to `struct r_debug`, and that to the list of `struct link_map` (<link.h>). All of
// this is read from the memory of the process, which may contain anything.
#include "record/targets/link_order.hpp"

#include "record/processes/descriptor.hpp"
#include "record/processes/files.hpp"
#include "record/processes/process_maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <limits>
#include <link.h>
#include <optional>
#include <type_traits>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::size_t most_entries = 4096; // of each list

class Memory {
public:
  explicit Memory(std::int32_t pid)
      : file_(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr auto highest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    T value{};
    if (!file_.valid() || address > highest - sizeof value ||
        ::pread(file_.get(), &value, sizeof value, static_cast<off_t>(address)) !=
            static_cast<ssize_t>(sizeof value)) {
      return std::nullopt;
    }
    return value;
  }

private:
  Descriptor file_;
};

struct ProgramHeaders {
  std::uint64_t address = 0;
  std::uint64_t count = 0;
};

std::optional<ProgramHeaders> program_headers(std::int32_t pid) {
  const auto text = read_text(fmt::format("/proc/{}/auxv", pid), most_entries);
  ProgramHeaders headers;
  std::uint64_t size = 0;
  Elf64_auxv_t entry;
  for (std::size_t at = 0; text && at + sizeof entry <= text->size(); at += sizeof entry) {
    std::memcpy(&entry, text->data() + at, sizeof entry);
    if (entry.a_type == AT_PHDR) {
      headers.address = entry.a_un.a_val;
    } else if (entry.a_type == AT_PHNUM) {
      headers.count = entry.a_un.a_val;
    } else if (entry.a_type == AT_PHENT) {
      size = entry.a_un.a_val;
    }
  }
  const bool good = headers.address != 0 && headers.count <= most_entries &&
                    size == sizeof(Elf64_Phdr); // 32-bit programs have smaller ones
  return good ? std::optional(headers) : std::nullopt;
}

std::optional<std::uint64_t> dynamic_section(const Memory& memory, const ProgramHeaders& headers) {
  std::uint64_t bias = 0;
  std::optional<std::uint64_t> dynamic;
  for (std::uint64_t index = 0; index < headers.count; ++index) {
    const auto header = memory.read<Elf64_Phdr>(headers.address + index * sizeof(Elf64_Phdr));
    if (!header) {
      return std::nullopt;
    }
    if (header->p_type == PT_PHDR) {
      bias = headers.address - header->p_vaddr;
    } else if (header->p_type == PT_DYNAMIC) {
      dynamic = header->p_vaddr;
    }
  }
  return dynamic ? std::optional(*dynamic + bias) : std::nullopt;
}

std::optional<std::uint64_t> first_link(const Memory& memory, std::uint64_t dynamic) {
  for (std::size_t index = 0; index < most_entries; ++index) {
    const auto entry = memory.read<Elf64_Dyn>(dynamic + index * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) {
      return std::nullopt;
    }
    if (entry->d_tag == DT_DEBUG) {
      return memory.read<std::uint64_t>(entry->d_un.d_ptr + offsetof(r_debug, r_map));
    }
  }
  return std::nullopt;
}

} // namespace

std::vector<std::string> link_order(std::int32_t pid) {
  const Memory memory(pid);
  const auto headers = program_headers(pid);
  const auto dynamic = headers ? dynamic_section(memory, *headers) : std::nullopt;
  const auto first = dynamic ? first_link(memory, *dynamic) : std::nullopt;
  const std::vector<MappedRange> ranges =
      parse_file_ranges(read_text(fmt::format("/proc/{}/maps", pid), longest_maps).value_or(""));
  std::vector<std::string> paths;
  std::uint64_t at = first.value_or(0);
  for (std::size_t count = 0; at != 0 && count < most_entries; ++count) {
    const auto link = memory.read<link_map>(at);
    if (!link) {
      break;
    }
    // The path in the list is often a symbolic link. The dynamic section is in the file itself.
    std::uint64_t section = 0;
    std::memcpy(&section, &link->l_ld, sizeof section);
    const auto after = std::ranges::upper_bound(ranges, section, {}, &MappedRange::start);
    if (after != ranges.begin() && section < (after - 1)->end) {
      paths.push_back((after - 1)->path);
    }
    std::memcpy(&at, &link->l_next, sizeof at);
  }
  return paths;
}

} // namespace ptlens::record
