// The text at the end of a line: the one place that makes it, for every editor.
#pragma once

#include "server/annotations/annotated_file.hpp"

#include <cstddef>
#include <string>

namespace ptlens::server {

// The smallest widths of the figures, in code points. Equal widths align the figures of lines that
// are drawn in columns, and add a bar to the share.
struct FigureWidths {
  std::size_t mean = 0; // 0: no columns
  std::size_t count = 0;
};

// Returns "12.3 µs × 1,000 · 45.8 %" for a line: mean, calls, and share of the enclosing function,
// or "12.3 µs  × 1,000  ━━╸     45.8 %" in columns. The bar is dashed where the calls wait most of
// the time. "✎ " comes first where the file was edited, "? " where it is newer than the program;
// changes, unwound calls with the names of the functions, and "old binary" come last. Returns
// nothing for a line on which less than a thousandth of the function's time was spent, or which
// only has incomplete calls.
[[nodiscard]] std::string line_text(const AnnotatedFile& file, const AnnotatedLine& line,
                                    const FigureWidths& widths = {});

// Returns the calls of a line, for its hover: "1.23 µs × 1,000 · off-CPU 5.10 ms total · 3
// incomplete".
[[nodiscard]] std::string line_calls_text(const measure::RecordingInfo& recording,
                                          const measure::LineRow& row);

// Returns the line's own time in sentences. `line.time` is not null.
[[nodiscard]] std::string line_time_sentences(const AnnotatedFile& file, const AnnotatedLine& line);

} // namespace ptlens::server
