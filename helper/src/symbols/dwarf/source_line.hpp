// Lines of source files, and code that belongs to them.
#pragma once

#include <cstdint>
#include <string>

namespace ptlens::symbols {

struct SourceLine {
  std::string file = {}; // absolute where DWARF's compilation directory makes it so
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct CodeLine { // the code in [low, high) belongs to the line
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint32_t line = 0; // 0: no line of the file in question
};

} // namespace ptlens::symbols
