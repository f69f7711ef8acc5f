// The line table gives the line of inlined code in the source of the inlined function. The line of
// the outermost call that was replaced takes precedence over it (DWARF 5, section 3.3.8.2).
#include "symbols/functions/own_lines.hpp"

#include "symbols/dwarf/die_attributes.hpp"
#include "symbols/dwarf/dwarf_walk.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>

namespace ptlens::symbols {

namespace {

constexpr std::size_t most_calls = std::size_t{1} << 16U;

// Lines by their first address; each is valid up to the next one.
class LineCuts {
public:
  void put(const CodeLine& code) {
    const auto next = cuts_.upper_bound(code.high);
    const std::uint32_t after = next == cuts_.begin() ? outside : std::prev(next)->second;
    cuts_.erase(cuts_.lower_bound(code.low), next);
    cuts_[code.low] = code.line;
    cuts_[code.high] = after;
  }

  [[nodiscard]] std::vector<CodeLine> take() const {
    std::vector<CodeLine> lines;
    for (auto cut = cuts_.begin(); cut != cuts_.end() && std::next(cut) != cuts_.end(); ++cut) {
      if (cut->second == outside) {
        continue;
      }
      if (!lines.empty() && lines.back().high == cut->first && lines.back().line == cut->second) {
        lines.back().high = std::next(cut)->first;
      } else {
        lines.push_back({.low = cut->first, .high = std::next(cut)->first, .line = cut->second});
      }
    }
    return lines;
  }

private:
  static constexpr std::uint32_t outside = UINT32_MAX;
  std::map<std::uint64_t, std::uint32_t> cuts_;
};

// A range of one of the functions.
struct OwnRange {
  AddressRange range;
  const std::string* file = nullptr; // the file that the function is in
};

// Returns the file of a function. A copy or part without a file has the file of its original.
const std::string& source_file_of(const FunctionTable& table, const Function& function) {
  const auto original = table.entry(function.original);
  return function.file.empty() && original ? table.functions()[*original].file : function.file;
}

class OutermostCalls {
public:
  OutermostCalls(const ElfImage& image, std::vector<OwnRange> ranges)
      : image_(image), ranges_(std::move(ranges)) {
    std::ranges::sort(ranges_, {}, [](const OwnRange& own) { return own.range.low; });
  }

  void add_unit(Dwarf_Die unit, Dwarf_Die contents, LineCuts& cuts) {
    if (!may_contain(unit)) {
      return;
    }
    const std::string folder = compilation_folder(&unit);
    for_each_die(contents, [&](Dwarf_Die& die, const std::vector<Dwarf_Die>&) {
      const int tag = dwarf_tag(&die);
      if (tag == DW_TAG_inlined_subroutine) {
        add(die, folder, cuts);
        return false;
      }
      return may_contain_subprograms(tag) || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
    });
  }

private:
  // Checks whether the unit may contain code of the functions. A unit without ranges may contain
  // any.
  bool may_contain(Dwarf_Die unit) const {
    const std::vector<AddressRange> code = code_ranges(unit, image_);
    return code.empty() || std::ranges::any_of(code, [&](const AddressRange& range) {
             return overlapping(range) != nullptr;
           });
  }

  // Returns the last of the functions' ranges, which do not overlap, that overlaps `range`.
  const OwnRange* overlapping(const AddressRange& range) const {
    const auto next = std::ranges::lower_bound(ranges_, range.high, {},
                                               [](const OwnRange& own) { return own.range.low; });
    if (next == ranges_.begin() || std::prev(next)->range.high <= range.low) {
      return nullptr;
    }
    return &*std::prev(next);
  }

  void add(Dwarf_Die die, const std::string& folder, LineCuts& cuts) {
    for (const AddressRange& range : code_ranges(die, image_)) {
      const OwnRange* own = overlapping(range);
      if (own == nullptr || ++calls_ > most_calls) {
        continue;
      }
      const auto call = replaced_call(die, folder);
      const bool in_file = call && call->file == *own->file;
      cuts.put({.low = std::max(range.low, own->range.low),
                .high = std::min(range.high, own->range.high),
                .line = in_file ? call->line : 0});
    }
  }

  const ElfImage& image_;
  std::vector<OwnRange> ranges_;
  std::size_t calls_ = 0;
};

} // namespace

std::vector<CodeLine> find_own_lines(const DebugFile& file, const ElfImage& image,
                                     const FunctionTable& table, const LineTable& lines,
                                     std::span<const std::uint32_t> functions) {
  LineCuts cuts;
  std::vector<OwnRange> ranges;
  for (const std::uint32_t index : functions) {
    const Function& function = table.functions()[index];
    const std::string& file_of_function = source_file_of(table, function);
    for (const AddressRange& range : function.ranges) {
      ranges.push_back({.range = range, .file = &file_of_function});
      for (const CodeLine& code : lines.lines_in(range, file_of_function)) {
        cuts.put(code);
      }
    }
  }
  if (const std::optional<OpenDwarf> open = open_dwarf(file)) {
    OutermostCalls calls(image, std::move(ranges));
    for_each_unit(open->dwarf.get(), [&](Dwarf_Die unit, Dwarf_Die contents) {
      calls.add_unit(unit, contents, cuts);
    });
  }
  return cuts.take();
}

} // namespace ptlens::symbols
