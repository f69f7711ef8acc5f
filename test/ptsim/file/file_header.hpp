// The feature sections at the end of a perf.data file: what machine, which events, which binaries.
// Layout: kernel tools/perf/Documentation/perf.data-file-format.txt.
#pragma once

#include "file/byte_buffer.hpp"

#include <cstdint>
#include <linux/perf_event.h>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::ptsim {

struct EventDescription {
  perf_event_attr attributes{};
  std::string name;
  std::vector<std::uint64_t> ids;
};

struct BuildId {
  std::string path;
  std::vector<std::uint8_t> bytes;
};

struct TraceIndexEntry { // of a PERF_RECORD_AUXTRACE
  std::uint64_t file_offset = 0;
  std::uint64_t record_size = 0; // bytes, without the trace
};

struct Features {
  std::vector<std::string> command_line;
  std::vector<EventDescription> events;
  std::vector<BuildId> build_ids;
  std::vector<TraceIndexEntry> trace_index;
};

// HEADER_ feature number and its section, in ascending order of the number.
[[nodiscard]] std::vector<std::pair<unsigned, ByteBuffer>>
feature_sections(const Features& features);

inline constexpr std::uint32_t intel_pt_pmu = 8; // the PMU's number in the files we write

} // namespace ptlens::ptsim
