#include "base/own_build.hpp"

#include "base/checksum.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <elf.h>
#include <link.h>
#include <span>

namespace ptlens {
namespace {

int add_build_id(dl_phdr_info* object, std::size_t /*size*/, void* to) {
  for (const ElfW(Phdr) & header : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (header.p_type == PT_NOTE) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): addresses come as numbers
      const auto* const note =
          reinterpret_cast<const unsigned char*>(object->dlpi_addr + header.p_vaddr);
      auto& text = *static_cast<std::string*>(to);
      for (const unsigned char byte : std::span(note, header.p_memsz)) {
        text += fmt::format("{:02x}", byte);
      }
    }
  }
  return 1; // the first object is the program itself
}

} // namespace

const std::string& own_build() {
  static const std::string build = [] {
    std::string notes;
    ::dl_iterate_phdr(add_build_id, &notes);
    return fmt::format("{:016x}", checksum(notes));
  }();
  return build;
}

} // namespace ptlens
