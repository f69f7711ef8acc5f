// The decision whether figures still describe what the editor shows: the text of a source file is
// compared with the text that was measured, and each binary with the binary that was measured.
#pragma once

#include "source/line_map.hpp"
#include "source/measured_sources.hpp"
#include "source/text_lines.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace ptlens::source {

// How the shown text and the present binary relate to what was measured. Later values are the
// stronger reasons to measure again.
enum class Staleness : std::uint8_t {
  current,          // both are what was measured
  unknown,          // the measured text is not known, and nothing indicates that it changed
  edited_elsewhere, // the file was edited, but not these lines
  newer_source,     // the measured text is not known, and the file is newer than the program
  edited,           // the text is not the measured text
  rebuilt,          // the program was rebuilt: measuring again is enough
};

// Returns the name of the value: "current", "unknown", "edited_elsewhere", "newer_source", "edited"
// or "rebuilt".
[[nodiscard]] const char* name_of(Staleness staleness);

// Returns whether the file at `path` is another binary than the measured one. A binary that was
// removed counts as unchanged.
[[nodiscard]] bool was_replaced(const std::string& path, const MeasuredBinary& measured);

// One source file, as it was measured and as it is shown.
class ShownSource {
public:
  // `file`: its path in the debug information. `binaries`: those that were built from it. `path`:
  // where it is on this machine. `shown`: the text that the editor shows; null where it is not
  // available.
  ShownSource(const MeasuredSources& measured, const std::string& file,
              std::span<const std::string> binaries, const std::string& path,
              const TextLines* shown);

  // Returns the staleness of the text as a whole: current, unknown, newer or edited.
  [[nodiscard]] Staleness text() const { return text_; }
  // Returns where a measured line, 1-based, is in the shown text; nothing where it was removed.
  [[nodiscard]] std::optional<LineMap::Line> now(std::uint32_t line) const;
  // Returns whether one of the measured lines first to last was edited, removed or separated.
  [[nodiscard]] bool was_edited(std::uint32_t first, std::uint32_t last) const;
  // Returns the staleness of some lines of the file and of the binaries that they are in.
  [[nodiscard]] Staleness of(bool lines_edited, bool binary_rebuilt) const;

private:
  Staleness text_ = Staleness::unknown;
  std::optional<LineMap> map_; // nothing: each line is where it was
};

// Finds out which binaries were rebuilt after the measurement. Reads each binary once.
class RebuiltBinaries {
public:
  // The sources must outlive the object.
  explicit RebuiltBinaries(const MeasuredSources& measured) : measured_(&measured) {}

  // Returns whether the binary at that path was rebuilt.
  [[nodiscard]] bool contains(const std::string& path);

private:
  const MeasuredSources* measured_;
  std::map<std::string, bool> known_; // by path
};

// Returns where line `line`, 1-based, of the source file `file` is in the shown text; nothing where
// it was removed. A text that is not known counts as unchanged.
[[nodiscard]] std::optional<std::uint32_t> present_line(const MeasuredSources& measured,
                                                        const std::string& file,
                                                        const TextLines* shown, std::uint32_t line);

} // namespace ptlens::source
