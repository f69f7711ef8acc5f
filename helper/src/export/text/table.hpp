// A table of text. Each column is as wide as its widest cell, in code points.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::exporting {

class Table {
public:
  enum class Align { left, right };

  struct Column {
    std::string heading;
    Align align = Align::right;
  };

  explicit Table(std::vector<Column> columns);

  // Adds a row with one cell for each column.
  void add(std::vector<std::string> cells);

  // Returns the headings and the rows, each indented and without trailing spaces.
  [[nodiscard]] std::string text(std::size_t indent) const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns the number of code points in UTF-8 text.
[[nodiscard]] std::size_t width(std::string_view text);

} // namespace ptlens::exporting
