// JSON as text. What stands in thousands of rows is written at once: a tree of values takes longer
// to make, to print and to free than the rows took to find.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::exporting {

// Keeps the order in which fields are written. A list that JsonRows wrote is a binary value in it:
// it can be a field of an object at any depth of objects, but not an entry of a list.
using Json = nlohmann::ordered_json;

// One line. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string dump(const Json& json);

// A list of objects, field after field.
class JsonRows {
public:
  // A row begins, or ends.
  void begin() { open(); }
  void end() { put('}'); }
  // The same of an object in the row, or in such a one.
  void begin(std::string_view name) {
    key(name);
    open();
  }

  void field(std::string_view name, std::uint64_t value);
  void field(std::string_view name, double value); // null where it is no finite number
  void field(std::string_view name, std::string_view value);
  void field(std::string_view name, std::nullptr_t value);

  [[nodiscard]] Json take();

private:
  void open();
  void key(std::string_view name);
  void put(char byte) { text_.push_back(static_cast<std::uint8_t>(byte)); }
  void put(std::string_view text) { text_.insert(text_.end(), text.begin(), text.end()); }

  std::vector<std::uint8_t> text_ = {'['};
};

} // namespace ptlens::exporting
