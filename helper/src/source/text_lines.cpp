// The checksums are XXH3: one of the exact line, one of the line with normalised blanks.
#include "source/text_lines.hpp"

#include "base/checksum.hpp"

#include <algorithm>
#include <string>

namespace ptlens::source {
namespace {

bool is_blank(char character) {
  return character == ' ' || character == '\t';
}

} // namespace

LineSums line_sums(std::string_view line) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  std::string normal;
  for (const char character : line) {
    if (!is_blank(character)) {
      normal += character;
    } else if (!normal.empty() && normal.back() != ' ') {
      normal += ' ';
    }
  }
  if (normal.ends_with(' ')) {
    normal.pop_back();
  }
  return {.exact = checksum(line), .loose = static_cast<std::uint32_t>(checksum(normal))};
}

TextLines text_lines(std::span<const LineSums> lines) {
  TextLines result;
  std::vector<std::uint64_t> exact;
  for (const LineSums& line : lines) {
    exact.push_back(line.exact);
    result.lines.push_back(line.loose);
  }
  result.whole = checksum(std::as_bytes(std::span(exact)));
  return result;
}

TextLines text_lines(std::string_view text) {
  std::vector<LineSums> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(line_sums(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return text_lines(lines);
}

} // namespace ptlens::source
