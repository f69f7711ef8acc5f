// Maps the lines of a text to the lines of a later version of it, with a patience diff (Cohen
// 2003): first the lines that both texts begin and end with, then lines that occur once in each, in
// the longest order that both texts have in common, then the same between those lines. Lines that
// were rewritten are paired where as many lines were removed as were added.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::source {

class LineMap {
public:
  // Takes the checksums of the lines of both texts.
  LineMap(std::span<const std::uint32_t> before, std::span<const std::uint32_t> now);

  struct Line {
    std::uint32_t number = 0; // 1-based
    bool same = false;        // its text did not change
  };
  // now() returns where a line of the earlier text is in the later one; before() returns the
  // opposite. Both are 1-based and return nothing for a line that was removed or added.
  [[nodiscard]] std::optional<Line> now(std::uint32_t before) const;
  [[nodiscard]] std::optional<Line> before(std::uint32_t now) const;

  // Returns whether the lines first to last of the earlier text are unchanged in the later text,
  // with nothing inserted between them.
  [[nodiscard]] bool intact(std::uint32_t first, std::uint32_t last) const;

private:
  std::vector<Line> now_;    // by earlier line, from 0; number 0: removed
  std::vector<Line> before_; // by present line
};

} // namespace ptlens::source
