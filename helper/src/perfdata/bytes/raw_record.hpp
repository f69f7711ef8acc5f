// A record of the data section before its fields are read.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace ptlens::perfdata {

// Types of perf's own records (enum perf_user_event_type). The kernel's types are PERF_RECORD_* of
// <linux/perf_event.h>. They are below 64, and their records may end in a sample-id trailer; perf's
// own records never do.
enum PerfRecordType : std::uint32_t {
  first_perf_record = 64,
  record_header_attr = 64,
  record_header_tracing_data = 66,
  record_header_build_id = 67,
  record_auxtrace_info = 70,
  record_auxtrace = 71,
  record_auxtrace_error = 72,
  record_time_conv = 79,
  record_compressed = 81,
  record_compressed2 = 83,
  record_types = 128, // no record that perf writes has a higher number
};

inline constexpr std::size_t record_header_size = 8; // u32 type, u16 misc, u16 size

struct Record {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::span<const std::byte> payload; // the bytes after the record header
  std::uint64_t file_offset =
      0;                   // offset of the record, or of the compressed record that contains it
  bool compressed = false; // the payload is not in the file and does not outlive the call
};

// Returns "MMAP2", or "type 99" for an unknown number.
[[nodiscard]] std::string record_name(std::uint32_t type);

// Returns a bad_input error at the record's offset.
[[nodiscard]] Error malformed(const Record& record, const std::string& what);
[[nodiscard]] Error malformed(std::uint64_t file_offset, const std::string& what);

// Returns a bad_input error for a file that ends too early.
[[nodiscard]] Error truncated(std::uint64_t file_offset, const std::string& what);

} // namespace ptlens::perfdata
