// The fields of a line of /proc.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace ptlens::record {

// Returns the number at the start of the text.
template <class Number>
[[nodiscard]] std::optional<Number> to_number(std::string_view text, int base = 10) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end == text.data()) {
    return std::nullopt;
  }
  return value;
}

// Removes the first field from the text and returns it. Spaces separate fields.
inline std::string_view next_field(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(begin);
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end);
  return field;
}

} // namespace ptlens::record
