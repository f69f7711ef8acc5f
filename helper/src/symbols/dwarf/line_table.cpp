// Line programs (DWARF 2 to 5), read by libdw and stored as rows sorted by address. Of rows with
// the same address the last one counts, as in gdb and addr2line.
#include "symbols/dwarf/line_table.hpp"

#include "symbols/dwarf/die_attributes.hpp"
#include "symbols/dwarf/source_path.hpp"

#include <elfutils/libdw.h>

#include <algorithm>
#include <iterator>

namespace ptlens::symbols {

namespace {

// Returns the ranges in which a unit has code; empty where the unit does not give them.
std::vector<AddressRange> code_of_unit(Dwarf_Die* unit) {
  std::vector<AddressRange> ranges;
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  std::ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(unit, offset, &base, &low, &high)) > 0) {
    if (low < high) {
      ranges.push_back({.low = low, .high = high});
    }
  }
  return ranges;
}

} // namespace

std::uint32_t LineTable::file_number(const std::string& file) {
  const auto [at, added] = numbers_.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
  if (added) {
    files_.push_back(file);
  }
  return at->second;
}

void LineTable::add_unit(Dwarf_Die* unit, const ElfImage& image) {
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(unit, &lines, &count) != 0) {
    return;
  }
  // A sequence may end with an empty row, which libdw sorts after the end. Outside the unit's code
  // it must not count.
  const std::vector<AddressRange> ranges = code_of_unit(unit);
  AddressSet code;
  for (const AddressRange& range : ranges) {
    code.add(range);
  }
  AddressRange alike; // addresses with the same answer: most rows ask about the same range
  bool is_own = false;
  const auto own = [&](std::uint64_t address) {
    if (address < alike.low || address >= alike.high) {
      const AddressRange of_code =
          ranges.empty() ? AddressRange{.low = 0, .high = UINT64_MAX} : code.around(address);
      const AddressRange of_claims = claimed_.around(address);
      alike = {.low = std::max(of_code.low, of_claims.low),
               .high = std::min(of_code.high, of_claims.high)};
      is_own = (ranges.empty() || code.contains(address)) && !claimed_.contains(address);
    }
    return is_own;
  };
  const std::string folder = compilation_folder(unit);
  const std::size_t first_row = rows_.size();
  std::unordered_map<const char*, std::uint32_t> known; // libdw returns one pointer per file
  const Section* last = nullptr;
  for (std::size_t at = 0; at < count; ++at) {
    Dwarf_Line* line = dwarf_onesrcline(lines, at);
    Dwarf_Addr address = 0;
    bool end = false;
    if (line == nullptr || dwarf_lineaddr(line, &address) != 0 ||
        dwarf_lineendsequence(line, &end) != 0) {
      continue;
    }
    if (end) {
      // The end of a section's last sequence is one past the section.
      const bool in_code =
          address > 0 && own(address - 1) && image.code_section(address - 1) != nullptr;
      if (in_code && !rows_.empty()) {
        rows_.push_back({.address = address});
      }
      continue;
    }
    if (last == nullptr || !last->contains(address)) {
      last = image.code_section(address);
    }
    if (!own(address)) {
      continue;
    }
    int number = 0;
    int column = 0;
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    if (last == nullptr || file == nullptr || dwarf_lineno(line, &number) != 0 || number < 0) {
      continue;
    }
    if (dwarf_linecol(line, &column) != 0 || column < 0) {
      column = 0;
    }
    auto found = known.find(file);
    if (found == known.end()) {
      found = known.emplace(file, file_number(normal_path(file, folder))).first;
    }
    const Row row{.address = address,
                  .file = found->second,
                  .line = static_cast<std::uint32_t>(number),
                  .column = static_cast<std::uint32_t>(column)};
    if (!rows_.empty() && rows_.back().file != no_file && rows_.back().address == address) {
      rows_.back() = row;
    } else {
      rows_.push_back(row);
    }
  }
  AddressRange claim; // of consecutive rows
  for (std::size_t at = first_row; at + 1 < rows_.size(); ++at) {
    const AddressRange row{.low = rows_[at].address, .high = rows_[at + 1].address};
    if (rows_[at].file == no_file || row.low >= row.high) {
      continue;
    }
    if (row.low != claim.high) {
      claimed_.add(claim);
      claim.low = row.low;
    }
    claim.high = row.high;
  }
  claimed_.add(claim);
}

void LineTable::finish() {
  std::ranges::stable_sort(rows_, [](const Row& one, const Row& other) {
    if (one.address != other.address) {
      return one.address < other.address;
    }
    return one.file == no_file && other.file != no_file;
  });
  const auto repeats = std::ranges::unique(rows_, [](const Row& one, const Row& other) {
    return one.file == other.file && one.line == other.line && one.column == other.column;
  });
  rows_.erase(repeats.begin(), repeats.end());
  rows_.shrink_to_fit();
  numbers_.clear();
}

void LineTable::pack(FieldWriter& out) const {
  out.put(files_);
  out.put(std::uint64_t{rows_.size()});
  for (const Row& row : rows_) {
    out.put(row.address);
    out.put(row.file);
    out.put(row.line);
    out.put(row.column);
  }
}

bool LineTable::unpack(FieldReader& in) {
  constexpr std::size_t row_bytes = 20;
  in.get(files_);
  rows_.resize(in.length(row_bytes));
  std::uint64_t before = 0;
  for (Row& row : rows_) {
    in.get(row.address);
    in.get(row.file);
    in.get(row.line);
    in.get(row.column);
    if (row.address < before || (row.file != no_file && row.file >= files_.size())) {
      return false;
    }
    before = row.address;
  }
  return in.good();
}

std::optional<SourceLine> LineTable::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  if (after == rows_.begin()) {
    return std::nullopt;
  }
  const Row& row = *std::prev(after);
  if (row.file == no_file || row.line == 0) {
    return std::nullopt;
  }
  return SourceLine{.file = files_[row.file], .line = row.line, .column = row.column};
}

std::uint32_t LineTable::last_line(AddressRange range, const std::string& file,
                                   std::uint64_t& budget) const {
  std::uint32_t last = 0;
  for (auto row = std::ranges::lower_bound(rows_, range.low, {}, &Row::address);
       row != rows_.end() && row->address < range.high && budget > 0; ++row, --budget) {
    if (row->file != no_file && row->line > last && files_[row->file] == file) {
      last = row->line;
    }
  }
  return last;
}

std::vector<CodeLine> LineTable::lines_in(AddressRange range, const std::string& file) const {
  std::vector<CodeLine> lines;
  auto row = std::ranges::upper_bound(rows_, range.low, {}, &Row::address);
  std::uint32_t line = 0;
  if (row != rows_.begin()) {
    const Row& before = *std::prev(row);
    line = before.file != no_file && files_[before.file] == file ? before.line : 0;
  }
  std::uint64_t low = range.low;
  for (; row != rows_.end() && row->address < range.high; ++row) {
    const std::uint32_t next = row->file != no_file && files_[row->file] == file ? row->line : 0;
    if (next != line) {
      lines.push_back({.low = low, .high = row->address, .line = line});
      low = row->address;
      line = next;
    }
  }
  if (low < range.high) {
    lines.push_back({.low = low, .high = range.high, .line = line});
  }
  return lines;
}

} // namespace ptlens::symbols
