// The text at the end of a line: the one place that makes it, for every editor.
#pragma once

#include "server/annotations/annotated_file.hpp"

#include <cstddef>
#include <string>

namespace ptlens::server {

// The smallest widths of the leading figures, in code points. Equal widths align the figures of
// lines that are drawn in one column.
struct FigureWidths {
  std::size_t duration = 0;
  std::size_t count = 0;
  std::size_t mean = 0; // with its uncertainty
};

// Returns "12.3 µs × 1,000 · off-CPU 5.10 ms total · −12 %" for a line. "✎ " comes first where the
// file was edited, "? " where it is newer than the program; "old binary" comes last.
[[nodiscard]] std::string line_text(const AnnotatedFile& file, const AnnotatedLine& line,
                                    const FigureWidths& widths = {});

// Returns the calls of a line without the line's time, change and staleness:
// "1.23 µs × 1,000 · off-CPU 5.10 ms total".
[[nodiscard]] std::string line_calls_text(const measure::RecordingInfo& recording,
                                          const measure::LineRow& row,
                                          const FigureWidths& widths = {});

// Returns the line's own time in sentences. `line.time` is not null.
[[nodiscard]] std::string line_time_sentences(const AnnotatedFile& file, const AnnotatedLine& line);

} // namespace ptlens::server
