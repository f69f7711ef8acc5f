// The stubs of the procedure linkage table and their targets.
#pragma once

#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/symbol_table.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ptlens::symbols {

struct PltStub {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string target; // linkage name, empty for the stub that enters the dynamic linker
};

// Returns the stubs of .plt, .plt.sec, .plt.got and .plt.bnd by address, without overlaps. A stub
// that jumps through a GOT slot gets the name of the slot's relocation. A stub with an IRELATIVE
// slot gets the name of the function in `symbols` at the relocation's addend, else "*ABS*+0xADDEND"
// as in objdump.
[[nodiscard]] std::vector<PltStub> read_plt_stubs(Elf* elf, const ElfImage& image,
                                                  std::span<const Symbol> symbols);

[[nodiscard]] bool is_plt_section(const Section& section);

} // namespace ptlens::symbols
