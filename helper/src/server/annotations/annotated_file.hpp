// A source file as the user sees it, with the figures that a recording has of it: where each
// measured function and line is now, whether its figures are stale, and how they differ from a
// baseline.
#pragma once

#include "line_time/line_times.hpp"
#include "measure/change/change.hpp"
#include "measure/lines/lines.hpp"
#include "server/annotations/documents.hpp"
#include "server/recordings/open_recording.hpp"
#include "source/line_map.hpp"
#include "source/staleness.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::server {

using source::Staleness;

struct AnnotatedFunction {
  const measure::FileFunction* entry = nullptr;
  std::uint32_t line = 0; // in the present text, 1-based
  bool edited = false;    // its text is not the measured one
  Staleness staleness = Staleness::current;
  std::optional<measure::Difference> difference; // from the baseline; absent: not in the baseline
};

struct AnnotatedLine {
  const measure::LineRow* row = nullptr;
  std::uint32_t line = 0;   // in the present text, 1-based
  std::size_t function = 0; // index of the function around it; functions.size(): none
  Staleness staleness = Staleness::current;
  std::optional<measure::Difference> difference;
  const line_time::LineTime* time = nullptr;   // null: not measured, or the line was not executed
  std::vector<std::uint32_t> shared_with = {}; // of its time; present lines, without removed ones
  // Of the total latency of the function around the line, in percent; nothing where that has none.
  std::optional<double> share = {};

  [[nodiscard]] bool has_calls() const { return !row->callees.empty(); }
  // Returns whether the threads were off-CPU for most of the time of the calls.
  [[nodiscard]] bool is_mostly_waiting() const {
    return row->latency.total > 0 && 2 * row->off_cpu.total > row->latency.total;
  }
};

struct AnnotatedFile {
  std::shared_ptr<OpenRecording> recording;
  std::shared_ptr<OpenRecording> baseline; // null: none
  std::shared_ptr<const measure::FileLines> lines;
  std::shared_ptr<const line_time::LineTimes> times; // null: not measured
  // Rows without calls, for the lines that have only a time.
  std::shared_ptr<std::deque<measure::LineRow>> without_calls;
  std::shared_ptr<const ShownText> shown; // null: the present text is not known
  Staleness staleness = Staleness::unknown;
  std::vector<AnnotatedFunction> functions; // by line, without removed functions
  std::vector<AnnotatedLine> rows;          // by line, without removed lines
  std::uint64_t hottest = 0;                // largest total latency of a row, ns

  [[nodiscard]] const measure::Measurement& measurement() const { return *recording->measurement; }
};

// Returns the annotations of the file at `path`, as the client names it. `recording` may be null.
// Errors: those of OpenRecording::lines, and not_found without a recording.
[[nodiscard]] Result<AnnotatedFile> annotate(const std::shared_ptr<OpenRecording>& recording,
                                             const std::shared_ptr<OpenRecording>& baseline,
                                             const std::string& path, const Documents& documents);

// Returns the present number of a line, both 1-based, of the file that the debug information names
// `recorded` and the client names `path`; nothing when the line was removed.
[[nodiscard]] std::optional<std::uint32_t> present_line(const OpenRecording& recording,
                                                        const std::string& recorded,
                                                        const std::string& path, std::uint32_t line,
                                                        const Documents& documents);

} // namespace ptlens::server
