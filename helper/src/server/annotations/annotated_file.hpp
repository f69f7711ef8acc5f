// A source file as the user sees it, with what a recording measured of it: where each function and
// line with calls, or with a time of its own, is now, whether it is still what was measured, and
// how it differs from a baseline.
#pragma once

#include "line_time/line_times.hpp"
#include "measure/lines/lines.hpp"
#include "measure/report/difference.hpp"
#include "server/annotations/documents.hpp"
#include "server/open_recordings.hpp"
#include "source/line_map.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::server {

enum class SourceState {
  as_measured,
  edited,  // another text than the one measured, which is known
  newer,   // the measured text is not known; the file is newer than the binary
  unknown, // whether it is the measured text
};

// "as_measured", "edited", "newer" or "unknown".
[[nodiscard]] const char* word(SourceState state);

struct AnnotatedFunction {
  const measure::FileFunction* entry = nullptr;
  std::uint32_t line = 0;                        // now, 1-based
  bool changed = false;                          // its own text is not what was measured
  bool old_binary = false;                       // its binary was built anew since
  std::optional<measure::Difference> difference; // from the baseline; nothing: not in it
};

struct AnnotatedLine {
  const measure::LineRow* row = nullptr;
  std::uint32_t line = 0;
  std::size_t function = 0; // index into functions whose text holds it; their number: none
  bool changed = false;
  bool old_binary = false;
  std::optional<measure::Difference> difference;
  const line_time::LineTime* time =
      nullptr; // of the line itself; null: not measured, or not executed
  std::vector<std::uint32_t> shared_with = {}; // its lines that are still there, where they are now

  [[nodiscard]] bool has_calls() const { return !row->callees.empty(); }
};

struct AnnotatedFile {
  std::shared_ptr<OpenRecording> recording;
  std::shared_ptr<OpenRecording> baseline; // null: none
  std::shared_ptr<const measure::FileLines> lines;
  std::shared_ptr<const line_time::LineTimes> times; // null: they were not asked for
  // Stand for the lines that have time and no calls.
  std::shared_ptr<std::deque<measure::LineRow>> without_calls;
  std::shared_ptr<const ShownText> shown; // null: not at hand
  SourceState text = SourceState::unknown;
  std::vector<AnnotatedFunction> functions; // by line; without those that were removed
  std::vector<AnnotatedLine> rows;          // the same
  std::uint64_t hottest = 0;                // largest total latency of a row, ns

  [[nodiscard]] const measure::Measurement& measurement() const { return *recording->measurement; }
};

// The file at `path`, as the client names it. `recording` may be null. Errors: those of
// OpenRecording::lines, not_found without a recording.
[[nodiscard]] Result<AnnotatedFile> annotate(const std::shared_ptr<OpenRecording>& recording,
                                             const std::shared_ptr<OpenRecording>& baseline,
                                             const std::string& path, const Documents& documents);

// Where a line of the file as `recorded` in the debug information, 1-based, is in the text at
// `path` now; nothing where it was removed.
[[nodiscard]] std::optional<std::uint32_t> present_line(const OpenRecording& recording,
                                                        const std::string& recorded,
                                                        const std::string& path, std::uint32_t line,
                                                        const Documents& documents);

} // namespace ptlens::server
