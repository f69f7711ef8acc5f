// A table of text: columns as wide as their widest cell, cells counted in code points.
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

  // As many cells as there are columns.
  void add(std::vector<std::string> cells);

  // Every line, headings first, indented; without trailing spaces.
  [[nodiscard]] std::string text(std::size_t indent) const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Number of code points in UTF-8 text.
[[nodiscard]] std::size_t width(std::string_view text);

} // namespace ptlens::exporting
