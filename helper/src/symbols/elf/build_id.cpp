#include "symbols/elf/build_id.hpp"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>

#include <cstddef>

namespace ptlens::symbols {

std::vector<std::uint8_t> read_build_id(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  constexpr ssize_t longest = 64;
  if (size <= 0 || size > longest) {
    return {};
  }
  const auto* first = static_cast<const std::uint8_t*>(bytes);
  return {first, first + size};
}

std::string build_id_text(std::span<const std::uint8_t> build_id) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * build_id.size());
  for (const unsigned byte : build_id) {
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text;
}

std::optional<std::string> build_id_path(std::string_view root, std::string_view build_id) {
  constexpr std::size_t folder_digits = 2;
  if (build_id.size() <= folder_digits) {
    return std::nullopt;
  }
  return fmt::format("{}/.build-id/{}/{}", root, build_id.substr(0, folder_digits),
                     build_id.substr(folder_digits));
}

} // namespace ptlens::symbols
