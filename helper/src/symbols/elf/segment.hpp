// The loadable segments of an ELF file.
#pragma once

#include <cstdint>

namespace ptlens::symbols {

struct Segment { // PT_LOAD with execute permission
  std::uint64_t address = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_size = 0;
};

struct LoadSegment { // PT_LOAD
  std::uint64_t address = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file_size = 0;
  bool executable = false;
};

} // namespace ptlens::symbols
