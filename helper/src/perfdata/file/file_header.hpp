// The header at the start of a perf.data file (struct perf_file_header) and the table of feature
// sections after its data section. Format: perf.data-file-format.txt.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace ptlens::perfdata {

struct Section { // a part of the file, in bytes
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

enum Feature : std::uint32_t { // bit numbers in the header
  feature_build_id = 2,
  feature_hostname = 3,
  feature_cpuid = 9,
  feature_cmdline = 11,
  feature_event_desc = 12,
};

struct FileHeader {
  std::uint64_t attribute_entry_size = 0; // bytes: perf_event_attr and the section of its ids
  Section attributes;
  Section data;
  bool unfinished =
      false; // perf was killed: the data extends to the end of the file, and there are no features
  std::map<std::uint32_t, Section> features; // by bit number
};

// Reads the header. Every section of the result is inside the file. Errors: unsupported
// (big-endian, pipe mode, PERFFILE from before 2010, a header of unknown size), bad_input.
[[nodiscard]] Result<FileHeader> read_file_header(std::span<const std::byte> file);

} // namespace ptlens::perfdata
