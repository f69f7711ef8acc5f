// The annotations at the ends of lines: inlay hints for any editor, and texts with figures for the
// PT Lens extension, which draws them itself.
#pragma once

#include "server/annotations/annotated_file.hpp"

#include <cstdint>

namespace ptlens::server {

struct LineSpan { // present lines, 1-based, both included
  std::uint32_t first = 1;
  std::uint32_t last = UINT32_MAX;
};

// Returns an LSP InlayHint[] for the lines.
[[nodiscard]] Json inlay_hints(const AnnotatedFile& file, const LineSpan& span);

// Returns the result of ptlens/annotations. With `heat`, it has the total latency of every line of
// the file.
[[nodiscard]] Json line_annotations(const AnnotatedFile& file, const LineSpan& span, bool heat);

} // namespace ptlens::server
