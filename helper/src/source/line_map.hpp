// Which lines of a text are which of a later one. A patience diff (Cohen 2003): what both texts
// begin and end with, then lines that occur once in each, in the longest order that both share,
// then the same between those. Lines that were rewritten in place are paired where as many went
// as came.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::engine {

class LineMap {
public:
  // Checksums of the lines of both texts.
  LineMap(std::span<const std::uint32_t> before, std::span<const std::uint32_t> now);

  struct Line {
    std::uint32_t number = 0; // 1-based
    bool same = false;        // its text is what it was
  };
  // Where a line of the earlier text is now, or which line of it one was; 1-based. Nothing where
  // it was removed, or is new.
  [[nodiscard]] std::optional<Line> now(std::uint32_t before) const;
  [[nodiscard]] std::optional<Line> before(std::uint32_t now) const;

  // Whether the lines first to last of the earlier text are still there, as they were and with
  // nothing between them.
  [[nodiscard]] bool intact(std::uint32_t first, std::uint32_t last) const;

private:
  std::vector<Line> now_;    // by earlier line, from 0; number 0: removed
  std::vector<Line> before_; // by present line
};

} // namespace ptlens::engine
