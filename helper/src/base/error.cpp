// Formatting of errors as one line.
#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptlens {

std::string Error::one_line() const {
  std::string line;
  if (!file.empty()) {
    line += fmt::format("{}: ", file);
  }
  if (offset) {
    line += fmt::format("offset {:#x}: ", *offset);
  }
  line += message;
  if (!remedy.empty()) {
    line += fmt::format("; {}", remedy);
  }
  std::ranges::replace(line, '\n', ' ');
  return line;
}

} // namespace ptlens
