// The hover on a function with figures, and on a line with calls.
#pragma once

#include "base/words.hpp"
#include "server/annotations/annotated_file.hpp"

#include <cstdint>

namespace ptlens::server {

struct HoverStyle {
  bool links = false; // to the commands of our own extension
};

// LSP Hover of a present line, 1-based; null where there is nothing to say.
[[nodiscard]] Json hover(const AnnotatedFile& file, std::uint32_t line, const HoverStyle& style,
                         const Words& say);

} // namespace ptlens::server
