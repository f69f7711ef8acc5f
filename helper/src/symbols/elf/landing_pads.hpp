// Where exceptions land: the call-site tables of the language-specific data areas
// (.gcc_except_table), by which the C++ runtime and those of Rust, Ada and D find handlers and
// clean-ups.
#pragma once

#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/unwind_table.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::symbols {

// The landing pad for exceptions out of the call that returns to `return_address`; nothing where
// they pass on to the caller. `descriptions` ordered by address.
[[nodiscard]] std::optional<std::uint64_t>
landing_pad(const ElfImage& image, std::span<const FrameDescription> descriptions,
            std::uint64_t return_address);

} // namespace ptlens::symbols
