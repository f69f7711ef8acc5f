// Ends of symbols: tools/perf/util/symbol.c, symbols__fixup_end.
#include "symbols/elf/kernel_code.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace ptlens::symbols {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::size_t most_symbols = 4'000'000;
constexpr std::uint64_t largest_function = 1 << 20; // bytes

struct Line {
  std::uint64_t address = 0;
  char type = ' ';
  std::string_view name;
};

// "ffffffff81000000 T _text" with "\t[module]" behind it for modules.
std::optional<Line> parse(std::string_view text) {
  Line line;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), line.address, 16);
  const auto digits = static_cast<std::size_t>(end - text.data());
  constexpr std::size_t shortest_rest = 4; // " T f"
  if (error != std::errc{} || line.address == 0 || text.size() < digits + shortest_rest ||
      text[digits] != ' ' || text[digits + 2] != ' ') {
    return std::nullopt;
  }
  line.type = text[digits + 1];
  line.name = text.substr(digits + 3);
  line.name = line.name.substr(0, line.name.find_first_of(" \t"));
  return line.name.empty() ? std::nullopt : std::optional(line);
}

Symbol::Binding binding_of(char type) {
  switch (type) {
  case 'T':
    return Symbol::Binding::global;
  case 'W':
  case 'w':
    return Symbol::Binding::weak;
  default:
    return Symbol::Binding::local;
  }
}

} // namespace

Result<std::vector<Symbol>> read_kallsyms(const std::string& path, const ElfImage& image) {
  if (auto file = open_file(path); !file) {
    return std::unexpected(file.error());
  }
  std::vector<Symbol> symbols;
  std::ifstream stream(path);
  for (std::string text; std::getline(stream, text) && symbols.size() < most_symbols;) {
    const auto line = parse(text);
    if (!line || std::string_view("tTwW").find(line->type) == std::string_view::npos) {
      continue;
    }
    const auto segments = image.code_segments();
    const auto segment = std::ranges::find_if(segments, [&](const Segment& of) {
      return line->address >= of.address && line->address - of.address < of.file_size;
    });
    if (segment != segments.end()) {
      symbols.push_back({.name = std::string(line->name),
                         .address = line->address,
                         .size = 0,
                         .section_end = segment->address + segment->file_size,
                         .source_file = 0,
                         .binding = binding_of(line->type),
                         .indirect = false});
    }
  }
  if (symbols.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "names no function of the kernel code that is at hand",
                                 .file = path,
                                 .remedy = "copy it as root, with kernel.kptr_restrict at 0 or 1"});
  }
  std::ranges::stable_sort(symbols, {}, &Symbol::address);
  for (std::size_t at = 0; at < symbols.size(); ++at) {
    Symbol& symbol = symbols[at];
    std::size_t next = at + 1;
    while (next < symbols.size() && symbols[next].address == symbol.address) {
      ++next;
    }
    const std::uint64_t last = (symbol.address & ~(page - 1)) + 2 * page;
    std::uint64_t end = next < symbols.size() ? symbols[next].address : last;
    end = end - symbol.address > largest_function ? last : end; // into another module
    symbol.size = std::min(end, symbol.section_end) - symbol.address;
  }
  return symbols;
}

} // namespace ptlens::symbols
