// The attributes of the recorded events, and perf's own records before the first record of the
// kernel. Layouts: tools/lib/perf/include/perf/event.h, tools/perf/util/intel-pt.h (AUXTRACE_INFO).
#pragma once

#include "file/byte_buffer.hpp"
#include "file/file_header.hpp"
#include "file/recording_config.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::ptsim {

inline constexpr std::size_t trace_event = 0; // intel_pt
inline constexpr std::size_t tracking_event = 1;

// Both events, each with an id for each lane.
[[nodiscard]] std::vector<EventDescription> recorded_events(const RecordingConfig& config);

[[nodiscard]] bool records_have_cpu(const RecordingConfig& config);

// One record: header and body.
[[nodiscard]] ByteBuffer record_bytes(std::uint32_t type, std::uint16_t misc,
                                      const ByteBuffer& body);

// AUXTRACE_INFO, TIME_CONV, ID_INDEX and THREAD_MAP.
[[nodiscard]] ByteBuffer preamble(const RecordingConfig& config,
                                  const std::vector<EventDescription>& events);

} // namespace ptlens::ptsim
