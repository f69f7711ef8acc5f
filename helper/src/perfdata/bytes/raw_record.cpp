// Names of records, and errors about them. Recording::open adds the file name to the errors.
#include "perfdata/bytes/raw_record.hpp"

#include <fmt/format.h>

#include <array>
#include <linux/perf_event.h>
#include <string_view>

namespace ptlens::perfdata {

namespace {

constexpr const char* record_again = "the file is damaged: record again, or copy it again";

struct Name {
  std::uint32_t type;
  std::string_view text;
};

constexpr std::array names = {
    Name{PERF_RECORD_MMAP, "MMAP"},
    Name{PERF_RECORD_LOST, "LOST"},
    Name{PERF_RECORD_COMM, "COMM"},
    Name{PERF_RECORD_EXIT, "EXIT"},
    Name{PERF_RECORD_FORK, "FORK"},
    Name{PERF_RECORD_SAMPLE, "SAMPLE"},
    Name{PERF_RECORD_MMAP2, "MMAP2"},
    Name{PERF_RECORD_AUX, "AUX"},
    Name{PERF_RECORD_ITRACE_START, "ITRACE_START"},
    Name{PERF_RECORD_LOST_SAMPLES, "LOST_SAMPLES"},
    Name{PERF_RECORD_SWITCH, "SWITCH"},
    Name{PERF_RECORD_SWITCH_CPU_WIDE, "SWITCH_CPU_WIDE"},
    Name{PERF_RECORD_KSYMBOL, "KSYMBOL"},
    Name{PERF_RECORD_TEXT_POKE, "TEXT_POKE"},
    Name{record_header_attr, "HEADER_ATTR"},
    Name{record_header_tracing_data, "HEADER_TRACING_DATA"},
    Name{record_header_build_id, "HEADER_BUILD_ID"},
    Name{record_auxtrace_info, "AUXTRACE_INFO"},
    Name{record_auxtrace, "AUXTRACE"},
    Name{record_auxtrace_error, "AUXTRACE_ERROR"},
    Name{record_time_conv, "TIME_CONV"},
    Name{record_compressed, "COMPRESSED"},
    Name{record_compressed2, "COMPRESSED2"},
};

} // namespace

std::string record_name(std::uint32_t type) {
  for (const Name& name : names) {
    if (name.type == type) {
      return std::string(name.text);
    }
  }
  return fmt::format("type {}", type);
}

Error malformed(const Record& record, const std::string& what) {
  return malformed(record.file_offset,
                   fmt::format("{} record {}{}", record_name(record.type),
                               record.compressed ? "in the compressed stream " : "", what));
}

Error malformed(std::uint64_t file_offset, const std::string& what) {
  return {.kind = Error::Kind::bad_input,
          .message = what,
          .file = {},
          .offset = file_offset,
          .remedy = record_again};
}

Error truncated(std::uint64_t file_offset, const std::string& what) {
  return {.kind = Error::Kind::bad_input,
          .message = "the file is truncated: " + what,
          .file = {},
          .offset = file_offset,
          .remedy = "record again, or copy the whole file again"};
}

} // namespace ptlens::perfdata
