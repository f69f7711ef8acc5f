// Landing pads of exceptions, from the call-site tables of the language-specific data areas
// (.gcc_except_table). The runtimes of C++, Rust, Ada and D find handlers and clean-ups by these
// tables.
#pragma once

#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/unwind_table.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::symbols {

// Returns the landing pad for exceptions out of the call that returns to `return_address`; nothing
// where they pass to the caller. `descriptions` must be ordered by address.
[[nodiscard]] std::optional<std::uint64_t>
landing_pad(const ElfImage& image, std::span<const FrameDescription> descriptions,
            std::uint64_t return_address);

} // namespace ptlens::symbols
