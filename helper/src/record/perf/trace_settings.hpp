// The choice of trace packets and buffer sizes, from the duration of the recording and the
// capabilities of the machine. Terms: perf-intel-pt(1). Packets: Intel SDM vol. 3, "Intel Processor
// Trace".
#pragma once

#include "base/note.hpp"
#include "record/machine/machine.hpp"
#include "record/request.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::record {

struct TraceSettings {
  bool cycles = false;                     // cyc: precise to nanoseconds, up to twice the data
  std::optional<unsigned> mtc_period = {}; // MTC packets every 2^n ticks; not set: none
  std::optional<unsigned> psb_period = {}; // PSB every 2^(n+11) bytes; not set: perf's default
  bool return_compression = true;          // false: each return has its own time
  Note reason = {};
};

// On a machine without Intel PT, where a replacement for perf simulates the trace, all packets are
// available.
[[nodiscard]] TraceSettings choose_settings(const Request& request, const Machine& machine);

struct BufferSizes {
  std::uint64_t count = 1;      // buffers: one per traced CPU, or one for the thread
  std::uint64_t data_pages = 1; // of each buffer, a power of two: side-band, or samples of probes
  std::uint64_t aux_pages = 1;  // of each buffer, a power of two: trace
};

// Returns sizes within the memory that may be locked: perf_event_mlock_kb per CPU plus
// RLIMIT_MEMLOCK (perf_mmap, kernel/events/core.c), or with CAP_IPC_LOCK a fraction of the RAM.
// `trace` says whether the recording contains trace.
[[nodiscard]] BufferSizes choose_buffers(const Request& request, const Machine& machine,
                                         bool trace);

} // namespace ptlens::record
