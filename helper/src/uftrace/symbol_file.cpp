#include "uftrace/symbol_file.hpp"

#include "uftrace/session_map.hpp"
#include "uftrace/text_file.hpp"

#include <algorithm>
#include <iterator>

namespace ptlens::uftrace {

const Symbol* SymbolFile::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(symbols, address, {}, &Symbol::address);
  if (after == symbols.begin()) {
    return nullptr;
  }
  const Symbol& found = *std::prev(after);
  return found.name == "__sym_end" || found.name == "__dynsym_end" || found.name == "__func_end"
             ? nullptr
             : &found;
}

Result<SymbolFile> read_symbol_file(const std::string& path) {
  const auto text = read_text(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  constexpr std::string_view functions = "TtwWPKu";
  SymbolFile file;
  each_line(*text, [&](std::string_view whole, std::size_t) {
    Scanner line(whole);
    if (line.skip("# path name: ")) {
      file.module = line.rest();
      return true;
    }
    if (line.skip("# build-id: ")) {
      file.build_id = build_id_of(line.rest());
      return true;
    }
    const auto address = line.number<std::uint64_t>(16);
    if (!address || !line.skip(" ") || line.rest().size() < 3 || line.rest()[1] != ' ') {
      return true;
    }
    const char type = line.rest()[0];
    const std::string_view name = line.rest().substr(2);
    if (functions.find(type) != std::string_view::npos || type == '?') {
      file.symbols.push_back({.address = *address,
                              .name = std::string(name.substr(0, name.find('\t'))),
                              .stub = type == 'P'});
    }
    return true;
  });
  std::ranges::stable_sort(file.symbols, {}, &Symbol::address);
  return file;
}

} // namespace ptlens::uftrace
