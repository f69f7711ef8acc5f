// The functions of the kernel, from a copy of /proc/kallsyms (proc(5)).
#pragma once

#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/symbol_table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

struct KallsymsLine {
  std::uint64_t address = 0; // 0 where the kernel hides it
  char type = ' ';           // as nm prints it
  std::string_view name;
};

// Reads "ffffffff81000000 T _text", which "\t[module]" follows for modules. Returns nothing for
// other lines.
[[nodiscard]] std::optional<KallsymsLine> read_kallsyms_line(std::string_view line);

// Returns the symbols of code (types t and w) in the image's segments. A symbol ends at the next
// one; a symbol with no successor in its page ends with the following page, as in perf. Errors:
// those of open_file, bad_input where the file gives no function an address. The kernel hides
// addresses from readers without privileges.
[[nodiscard]] Result<std::vector<Symbol>> read_kallsyms(const std::string& path,
                                                        const ElfImage& image);

} // namespace ptlens::symbols
