// JSON as text. Lists of thousands of rows are written directly, because building, printing and
// freeing a tree of values takes longer than finding the rows.
#pragma once

#include "protocol/types.hpp"

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::exporting {

// A list that JsonRows wrote is a binary value in the tree: it can be a field of an object at any
// depth of objects, but not an entry of a list.
using protocol::Json;

// Returns the JSON as one line. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);

// A list of objects, or objects on lines of their own, field after field.
class JsonRows {
public:
  enum class Between : char { commas = ',', lines = '\n' };

  explicit JsonRows(Between between = Between::commas) : between_(between) {}

  // Begin and end a row.
  void begin() { open(); }
  void end() { put('}'); }
  // Begins an object in a row or in such an object. end() ends it.
  void begin(std::string_view name) {
    key(name);
    open();
  }

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

  // Ends the list and returns it.
  [[nodiscard]] Json take();
  [[nodiscard]] std::size_t size() const { return text_.size(); } // bytes so far
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
  void put(char byte) { text_.push_back(static_cast<std::uint8_t>(byte)); }
  void put(std::string_view text) { text_.insert(text_.end(), text.begin(), text.end()); }

  Between between_;
  std::vector<std::uint8_t> text_ = {'['};
};

} // namespace ptlens::exporting
