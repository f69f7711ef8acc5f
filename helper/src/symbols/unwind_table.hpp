// Where functions begin and end, from the unwind table (.eh_frame), which survives stripping.
#pragma once

#include "symbols/binary.hpp"
#include "symbols/elf_image.hpp"

#include <vector>

namespace ptlens::symbols {

// Ranges of all frame descriptions that lie in executable sections, by address.
[[nodiscard]] std::vector<AddressRange> read_unwind_ranges(Elf* elf, const ElfImage& image);

} // namespace ptlens::symbols
