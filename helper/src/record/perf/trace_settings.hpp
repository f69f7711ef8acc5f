// Which packets the processor is asked for, and how large the buffers are: from how long the
// recording is to be and what the machine has. Terms: perf-intel-pt(1); packets: Intel SDM vol. 3,
// "Intel Processor Trace".
#pragma once

#include "record/machine/machine.hpp"
#include "record/recorder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ptlens::record {

struct TraceSettings {
  bool cycles = false;                     // cyc: times of some nanoseconds, up to twice the data
  std::optional<unsigned> mtc_period = {}; // crystal packets every 2^n ticks; nothing: none
  std::optional<unsigned> psb_period = {}; // synchronisation every 2^(n+11) bytes; nothing: perf's
  bool return_compression = true;          // false: each return has a time of its own
  std::string reason = {};                 // one line for the user
};

// Where the machine has no Intel PT (perf is a stand-in), every packet there is may be asked for.
[[nodiscard]] TraceSettings choose_settings(const Request& request, const Machine& machine);

struct BufferSizes {
  std::uint64_t count = 1;      // buffers: one for each traced CPU, or one for the thread
  std::uint64_t data_pages = 1; // of each, a power of two: side-band, or samples of probes
  std::uint64_t aux_pages = 1;  // of each, a power of two: trace
};

// Within what may be locked: perf_event_mlock_kb for each CPU and RLIMIT_MEMLOCK beyond it
// (perf_mmap, kernel/events/core.c), with CAP_IPC_LOCK a part of the memory. `trace`: some of it is
// for trace.
[[nodiscard]] BufferSizes choose_buffers(const Request& request, const Machine& machine,
                                         bool trace);

} // namespace ptlens::record
