// The hover on a function with figures, and on a line with calls.
#pragma once

#include "server/annotations/annotated_file.hpp"

#include <cstdint>

namespace ptlens::server {

struct HoverStyle {
  bool links = false; // adds links to the commands of the PT Lens extension
};

// Returns the LSP Hover of a line of the present text, 1-based; null where there are no figures.
[[nodiscard]] Json hover(const AnnotatedFile& file, std::uint32_t line, const HoverStyle& style);

} // namespace ptlens::server
