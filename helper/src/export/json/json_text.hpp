// JSON as text. Lists of thousands of rows are written directly, because building, printing and
// freeing a tree of values takes longer than finding the rows.
#pragma once

#include "protocol/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::exporting {

// A list that JsonRows wrote is a binary value in the tree: it can be a field of an object at any
// depth of objects, but not an entry of a list.
using protocol::Json;

// Returns the JSON as one line. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);

// A list of objects, field after field.
class JsonRows {
public:
  // Begin and end a row.
  void begin() { open(); }
  void end() { put('}'); }
  // Begins an object in a row or in such an object. end() ends it.
  void begin(std::string_view name) {
    key(name);
    open();
  }

  void field(std::string_view name, std::uint64_t value);
  void field(std::string_view name, double value); // null where it is not finite
  void field(std::string_view name, std::string_view value);
  void field(std::string_view name, std::nullptr_t value);
  void flag(std::string_view name); // true

  [[nodiscard]] Json take();

private:
  void open();
  void key(std::string_view name);
  void put(char byte) { text_.push_back(static_cast<std::uint8_t>(byte)); }
  void put(std::string_view text) { text_.insert(text_.end(), text.begin(), text.end()); }

  std::vector<std::uint8_t> text_ = {'['};
};

} // namespace ptlens::exporting
