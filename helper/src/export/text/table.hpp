// A table of text. Each column is as wide as its widest cell, in code points.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::exporting {

class Table {
public:
  // Numbers are aligned to the right.
  struct Column {
    Column(const char* of) : heading(of) {} // NOLINT(google-explicit-constructor): {"calls", ...}

    std::string heading;
    bool is_text = false; // aligned to the left
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

[[nodiscard]] Table::Column text_column(const char* heading);

// Returns the number of code points in UTF-8 text.
[[nodiscard]] std::size_t width(std::string_view text);

} // namespace ptlens::exporting
