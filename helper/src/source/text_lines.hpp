// A source text reduced to checksums. They show whether two texts are equal and which lines of one
// are which lines of the other, without storing the user's text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ptlens::source {

struct TextLines {
  std::uint64_t whole = 0;          // of all lines, without their line breaks
  std::vector<std::uint32_t> lines; // of each line, normalised: indenting it changes nothing

  bool operator==(const TextLines&) const = default;
};

struct LineSums {
  std::uint64_t exact = 0;
  std::uint32_t loose = 0; // of the line without blanks at its ends, each run of blanks as one
};

// Returns the checksums of a line without its line break. A carriage return at its end is ignored.
[[nodiscard]] LineSums line_sums(std::string_view line);

[[nodiscard]] TextLines text_lines(std::span<const LineSums> lines);
[[nodiscard]] TextLines text_lines(std::string_view text);

} // namespace ptlens::source
