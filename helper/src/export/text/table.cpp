// A table of text.
#include "export/text/table.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::exporting {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char character) { return (static_cast<unsigned char>(character) & 0xc0) != 0x80; }));
}

Table::Column text_column(const char* heading) {
  Table::Column column(heading);
  column.is_text = true;
  return column;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(width(column.heading));
  }
  for (const auto& row : rows_) {
    for (std::size_t index = 0; index < row.size(); ++index) {
      widths[index] = std::max(widths[index], width(row[index]));
    }
  }
  std::string text;
  const auto write = [&](const std::vector<std::string>& cells) {
    std::string line(indent, ' ');
    for (std::size_t index = 0; index < cells.size(); ++index) {
      const std::string padding(widths[index] - width(cells[index]), ' ');
      line += index > 0 ? "  " : "";
      line += columns_[index].is_text ? cells[index] + padding : padding + cells[index];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  write(headings);
  std::ranges::for_each(rows_, write);
  return text;
}

} // namespace ptlens::exporting
