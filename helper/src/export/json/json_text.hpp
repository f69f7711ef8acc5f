// JSON as text. Lists of thousands of rows are written directly, because building, printing and
// freeing a tree of values takes longer than finding the rows.
#pragma once

#include "protocol/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens::exporting {

// A list that JsonRows wrote is a binary value in the tree: it can be a field of an object at any
// depth of objects, but not an entry of a list.
using protocol::Json;

// Returns the JSON as one line. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);
// Prints the same text, without a copy of lists that are text already.
void print(const Json& json, std::ostream& out);

// A list of objects, or objects on lines of their own, field after field.
class JsonRows {
public:
  enum class Between : char { commas = ',', lines = '\n' };

  // `bytes`: how long the text will be, as far as that is known.
  explicit JsonRows(Between between = Between::commas, std::size_t bytes = usual_bytes)
      : between_(between), text_(std::max<std::size_t>(1, bytes)) {
    put('[');
  }

  // Returns an empty list with room for so many rows.
  [[nodiscard]] static JsonRows list(std::size_t rows) {
    constexpr std::size_t usual_row = 512; // bytes
    return JsonRows(Between::commas, (rows + 1) * usual_row);
  }

  // Begin and end a row.
  void begin() { open(); }
  void end() { put('}'); }
  // Begins an object in a row or in such an object. end() ends it.
  void begin(std::string_view name) {
    key(name);
    open();
  }

  // Begins a list of rows in a row. end_list() ends it.
  void begin_list(std::string_view name) {
    key(name);
    put('[');
  }
  void end_list() { put(']'); }

  template <std::integral Integer>
  void field(std::string_view name, Integer value) {
    key(name);
    if constexpr (std::same_as<Integer, bool>) {
      put(value ? "true" : "false");
    } else {
      number(value);
    }
  }
  void field(std::string_view name, std::optional<std::uint64_t> value); // null where there is none
  // A pair of numbers.
  void field(std::string_view name, std::uint64_t first, std::optional<std::uint64_t> second);
  void field(std::string_view name, double value); // null where it is not finite
  void field(std::string_view name, std::string_view value);
  void field(std::string_view name, std::nullptr_t value);
  void tree(std::string_view name, const Json& value); // a field that is a tree of values

  // Ends the list and returns it.
  [[nodiscard]] Json take();
  [[nodiscard]] std::size_t size() const { return size_; } // bytes so far
  // Returns the lines so far, each with its end, and forgets them.
  [[nodiscard]] std::string take_lines();

private:
  void open();
  void key(std::string_view name);
  template <std::integral Integer>
  void number(Integer value) {
    const fmt::format_int digits(value);
    put(std::string_view(digits.data(), digits.size()));
  }
  void put(char byte) { *room(1) = static_cast<std::uint8_t>(byte); }
  void put(std::string_view text) { std::memcpy(room(text.size()), text.data(), text.size()); }
  // Returns where the next `count` bytes are to be written.
  [[nodiscard]] std::uint8_t* room(std::size_t count) {
    if (text_.size() - size_ < count) [[unlikely]] {
      text_.resize(std::max(2 * text_.size(), size_ + count));
    }
    return &text_[std::exchange(size_, size_ + count)];
  }
  [[nodiscard]] char last() const { return static_cast<char>(text_[size_ - 1]); }

  static constexpr std::size_t usual_bytes = 4096;

  Between between_;
  std::size_t size_ = 0;           // bytes of the text
  std::vector<std::uint8_t> text_; // longer than the text: appending byte by byte takes longer
};

} // namespace ptlens::exporting
