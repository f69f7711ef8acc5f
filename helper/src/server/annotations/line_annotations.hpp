// What stands at the ends of lines with calls: as inlay hints for any editor, as figures for those
// that draw by themselves.
#pragma once

#include "base/words.hpp"
#include "server/annotations/annotated_file.hpp"

#include <cstdint>

namespace ptlens::server {

struct LineSpan { // present lines, 1-based, both included
  std::uint32_t first = 1;
  std::uint32_t last = UINT32_MAX;
};

// LSP InlayHint[] of the lines.
[[nodiscard]] Json inlay_hints(const AnnotatedFile& file, const LineSpan& span, const Words& say);

// Result of ptlens/annotations; with `heat`, how hot each line of the whole file is.
[[nodiscard]] Json line_annotations(const AnnotatedFile& file, const LineSpan& span, bool heat);

} // namespace ptlens::server
