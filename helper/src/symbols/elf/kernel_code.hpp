// The names of kernel functions, as /proc/kallsyms lists them: proc(5).
#pragma once

#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/symbol_table.hpp"

#include <string>
#include <vector>

namespace ptlens::symbols {

// Symbols of code (types t and w) that lies in the image's segments. A symbol ends where the next
// begins; one that nothing follows in its page ends with the page behind, as perf has it. Errors:
// those of open_file, bad_input where the file names no function at an address, as it does for
// readers from whom the kernel hides them.
[[nodiscard]] Result<std::vector<Symbol>> read_kallsyms(const std::string& path,
                                                        const ElfImage& image);

} // namespace ptlens::symbols
