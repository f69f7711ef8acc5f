// A source text reduced to checksums: enough to tell whether two texts are the same, and which
// lines of one are which of the other, without keeping what the user wrote.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ptlens::engine {

struct TextLines {
  std::uint64_t whole = 0;          // of all lines, without their line breaks
  std::vector<std::uint32_t> lines; // of each, whatever its blanks: indenting changes none

  bool operator==(const TextLines&) const = default;
};

struct LineSums {
  std::uint64_t exact = 0;
  std::uint32_t loose = 0; // blanks at the ends left out, those between taken as one
};

// `line` without its line break; a carriage return at its end does not count.
[[nodiscard]] LineSums line_sums(std::string_view line);

[[nodiscard]] TextLines text_lines(std::span<const LineSums> lines);
[[nodiscard]] TextLines text_lines(std::string_view text);

} // namespace ptlens::engine
