// Rule for the ends of symbols: tools/perf/util/symbol.c, symbols__fixup_end.
#include "symbols/elf/kallsyms.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

namespace ptlens::symbols {
namespace {

constexpr std::uint64_t kernel_page = 4096;
constexpr std::size_t most_symbols = 4'000'000;
constexpr std::uint64_t largest_function = 1 << 20; // bytes

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

std::optional<KallsymsLine> read_kallsyms_line(std::string_view line) {
  KallsymsLine read;
  const auto [end, error] =
      std::from_chars(line.data(), line.data() + line.size(), read.address, 16);
  const auto digits = static_cast<std::size_t>(end - line.data());
  constexpr std::size_t shortest_rest = 4; // " T f"
  if (error != std::errc{} || line.size() < digits + shortest_rest || line[digits] != ' ' ||
      line[digits + 2] != ' ') {
    return std::nullopt;
  }
  read.type = line[digits + 1];
  read.name = line.substr(digits + 3);
  read.name = read.name.substr(0, read.name.find_first_of(" \t"));
  return read.name.empty() ? std::nullopt : std::optional(read);
}

Result<std::vector<Symbol>> read_kallsyms(const std::string& path, const ElfImage& image) {
  if (auto file = open_file(path); !file) {
    return std::unexpected(file.error());
  }
  std::vector<Symbol> symbols;
  std::ifstream stream(path);
  for (std::string text; std::getline(stream, text) && symbols.size() < most_symbols;) {
    const auto line = read_kallsyms_line(text);
    if (!line || line->address == 0 ||
        std::string_view("tTwW").find(line->type) == std::string_view::npos) {
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
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = "the file contains no function of the kernel code that was copied",
              .file = path,
              .remedy = "copy it as root, with kernel.kptr_restrict set to 0 or 1"});
  }
  std::ranges::stable_sort(symbols, {}, &Symbol::address);
  for (std::size_t at = 0; at < symbols.size(); ++at) {
    Symbol& symbol = symbols[at];
    std::size_t next = at + 1;
    while (next < symbols.size() && symbols[next].address == symbol.address) {
      ++next;
    }
    const std::uint64_t last = (symbol.address & ~(kernel_page - 1)) + 2 * kernel_page;
    std::uint64_t end = next < symbols.size() ? symbols[next].address : last;
    end = end - symbol.address > largest_function ? last
                                                  : end; // the next symbol is in another module
    symbol.size = std::min(end, symbol.section_end) - symbol.address;
  }
  return symbols;
}

} // namespace ptlens::symbols
