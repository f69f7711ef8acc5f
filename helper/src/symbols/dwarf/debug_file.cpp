// The search order of gdb ("Debugging Information in Separate Files"): by build-id under
// /usr/lib/debug/.build-id, then by .gnu_debuglink beside the binary, in .debug, and under
// /usr/lib/debug.
#include "symbols/dwarf/debug_file.hpp"

#include "symbols/dwarf/debuginfod.hpp"
#include "symbols/elf/build_id.hpp"

#include <elfutils/libdwelf.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unistd.h>
#include <zlib.h>

namespace ptlens::symbols {

namespace {

constexpr const char* debug_root = "/usr/lib/debug";

bool has_dwarf(Elf* elf, std::uint64_t file_size) {
  return std::ranges::any_of(read_sections(elf, file_size), [](const Section& section) {
    return (section.name == ".debug_info" || section.name == ".zdebug_info") &&
           section.type != SHT_NOBITS && section.size > 0;
  });
}

// The checksum of .gnu_debuglink is zlib's CRC-32 over the whole file.
std::optional<std::uint32_t> crc_of(int descriptor) {
  std::array<unsigned char, 65536> buffer = {};
  uLong value = crc32(0, nullptr, 0);
  off_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(descriptor, buffer.data(), buffer.size(), offset);
    if (count < 0) {
      return std::nullopt;
    }
    if (count == 0) {
      return static_cast<std::uint32_t>(value);
    }
    value = crc32(value, buffer.data(), static_cast<uInt>(count));
    offset += count;
  }
}

std::optional<DebugFile> check(const std::string& path, const ElfImage& image,
                               const std::optional<std::uint32_t>& wanted_checksum) {
  const Result<ElfFile> file = ElfFile::open(path);
  if (!file || file->identity() == image.identity()) {
    return std::nullopt;
  }
  const std::vector<std::uint8_t> build_id = read_build_id(file->elf());
  const bool both_have_ids = !build_id.empty() && !image.build_id().empty();
  const bool same = both_have_ids
                        ? std::ranges::equal(build_id, image.build_id())
                        : wanted_checksum && crc_of(file->descriptor()) == wanted_checksum;
  if (!same) {
    return std::nullopt;
  }
  return DebugFile{.path = path,
                   .identity = file->identity(),
                   .has_dwarf = has_dwarf(file->elf(), file->identity().size)};
}

std::optional<DebugFile> fetched(const ElfImage& image) {
  const std::optional<std::string> path = fetch_debug_file(image.build_id());
  return path ? check(*path, image, std::nullopt) : std::nullopt;
}

} // namespace

DebugFile find_debug_file(const ElfFile& file, const ElfImage& image) {
  DebugFile own{.path = image.path(),
                .identity = image.identity(),
                .has_dwarf = has_dwarf(file.elf(), image.identity().size)};
  if (own.has_dwarf) {
    return own;
  }
  if (const auto path = build_id_path(debug_root, build_id_text(image.build_id()))) {
    if (std::optional<DebugFile> found = check(*path + ".debug", image, std::nullopt)) {
      return *std::move(found);
    }
    // A bundle stores the debug file there (engine/bundle/bundle.hpp).
    if (std::optional<DebugFile> found = check(image.path() + ".debug", image, std::nullopt)) {
      return *std::move(found);
    }
  }
  GElf_Word wanted = 0;
  const char* link = dwelf_elf_gnu_debuglink(file.elf(), &wanted);
  const std::string name = link == nullptr ? "" : link;
  if (name.empty() || name.contains('/')) {
    return fetched(image).value_or(own);
  }
  std::error_code failure;
  const std::filesystem::path folder =
      std::filesystem::absolute(image.path(), failure).parent_path();
  for (const std::filesystem::path& candidate :
       {folder / name, folder / ".debug" / name,
        std::filesystem::path(debug_root) / folder.relative_path() / name}) {
    if (std::optional<DebugFile> found = check(candidate.string(), image, wanted)) {
      return *std::move(found);
    }
  }
  return fetched(image).value_or(own);
}

} // namespace ptlens::symbols
