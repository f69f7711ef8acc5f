// Ranges of functions and the addresses of their exception tables, from the unwind table
// (.eh_frame), which survives stripping.
#pragma once

#include "symbols/addresses/address_range.hpp"
#include "symbols/elf/elf_image.hpp"

#include <cstdint>
#include <vector>

namespace ptlens::symbols {

struct FrameDescription {
  AddressRange code;
  std::uint64_t exception_table = 0; // address of the language-specific data area, 0: none
};

// Returns the frame descriptions in executable sections, by address.
[[nodiscard]] std::vector<FrameDescription> read_frame_descriptions(Elf* elf,
                                                                    const ElfImage& image);

// Returns the ranges of all frame descriptions in executable sections, by address.
[[nodiscard]] std::vector<AddressRange> read_unwind_ranges(Elf* elf, const ElfImage& image);

} // namespace ptlens::symbols
