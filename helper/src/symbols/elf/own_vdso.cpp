// AT_SYSINFO_EHDR gives the start of the vdso. The section headers come last in it and determine
// its end.
#include "symbols/elf/own_vdso.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ptlens::symbols {
namespace {

std::string copy_to_memory_file() {
  const auto bytes = own_vdso();
  if (bytes.empty()) {
    return "";
  }
  const int file = ::memfd_create("vdso", MFD_CLOEXEC);
  if (file < 0) {
    return "";
  }
  if (::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    ::close(file);
    return "";
  }
  // The descriptor stays open until the process ends, so the path remains valid.
  return fmt::format("/proc/self/fd/{}", file);
}

} // namespace

std::span<const std::byte> own_vdso() {
  const std::uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) {
    return {};
  }
  const auto* const first =
      reinterpret_cast<const std::byte*>(start); // NOLINT(performance-no-int-to-ptr)
  Elf64_Ehdr header;
  std::memcpy(&header, first, sizeof header);
  return {first, header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize};
}

const std::string& own_vdso_path() {
  static const std::string path = copy_to_memory_file();
  return path;
}

} // namespace ptlens::symbols
