#include "record/processes/files.hpp"

#include "record/processes/descriptor.hpp"
#include "record/processes/fields.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ptlens::record {

std::optional<std::string> read_text(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    return std::nullopt;
  }
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() < limit) {
    const ssize_t got =
        ::read(file.get(), piece.data(), std::min(piece.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::int64_t> read_number(const std::string& path) {
  const std::optional<std::string> text = read_text(path, 64);
  return text ? to_number<std::int64_t>(*text) : std::nullopt;
}

std::string link_target(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

} // namespace ptlens::record
