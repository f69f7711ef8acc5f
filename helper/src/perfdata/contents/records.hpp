// The records of a perf.data file, as plain values. Layouts: kernel include/uapi/linux/perf_event.h
// (kernel records) and tools/lib/perf/include/perf/event.h (perf's own records).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptlens::perfdata {

// Times are nanoseconds of perf's clock; 0 where the record has none. `cpu`, `pid` and `tid` are -1
// where the record has none.

struct Mapping { // MMAP and MMAP2, executable mappings only
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1; // -1: the kernel
  std::int32_t tid = -1;
  std::uint64_t start = 0;       // first address in the process
  std::uint64_t length = 0;      // bytes
  std::uint64_t file_offset = 0; // offset in `path` of the byte at `start`
  std::string path;
  std::vector<std::uint8_t> build_id; // empty where not recorded
  bool from_kernel = false;           // cpumode kernel: kernel text, module or eBPF
};

struct ThreadName { // COMM
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::string name;
  bool exec = false; // the process image was replaced
};

struct ThreadStart { // FORK
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int32_t parent_pid = -1;
  std::int32_t parent_tid = -1;
};

struct ThreadExit { // EXIT
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
};

struct Switch { // SWITCH and SWITCH_CPU_WIDE
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1; // the thread that is switched out or in
  std::int32_t cpu = -1;
  bool out = false;
  bool preempted = false; // switched out while runnable (PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
  // CPU_WIDE only: the thread that comes in next (out) or that ran before (in).
  std::int32_t other_pid = -1;
  std::int32_t other_tid = -1;
};

struct AuxWrite { // AUX: new trace in an AUX buffer
  std::uint64_t time_ns = 0;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
  std::uint64_t offset = 0; // in the AUX buffer's byte stream
  std::uint64_t size = 0;
  bool truncated = false; // trace was lost after these bytes (PERF_AUX_FLAG_TRUNCATED)
  bool overwrite = false; // snapshot mode
  bool partial = false;
  bool collision = false;
};

struct TraceStart { // ITRACE_START
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
};

struct Lost { // LOST, LOST_SAMPLES
  std::uint64_t time_ns = 0;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
  std::uint64_t count = 0; // records or samples that were dropped
};

struct KernelSymbol { // KSYMBOL
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  bool unregister = false;
  std::string name;
};

struct TextPoke { // TEXT_POKE
  std::uint64_t time_ns = 0;
  std::uint64_t address = 0;
  std::vector<std::byte> old_bytes;
  std::vector<std::byte> new_bytes;
};

struct AuxTraceError { // AUXTRACE_ERROR
  std::uint64_t time_ns = 0;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
  std::uint64_t address = 0;
  std::string message;
};

struct Sample { // SAMPLE of an event that is not a trace: tracepoints and probes
  std::uint64_t time_ns = 0;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int32_t cpu = -1;
  std::uint64_t ip = 0;
  std::uint32_t attribute = 0;    // index into Recording::attributes()
  std::span<const std::byte> raw; // PERF_SAMPLE_RAW payload, in the mapped file; may be empty
  std::span<const std::byte> chain = {};      // u64 addresses, PERF_CONTEXT_* between them
  std::span<const std::byte> registers = {};  // u64 values of PERF_SAMPLE_REGS_USER; may be empty
  std::span<const std::byte> user_stack = {}; // from the stack pointer upwards
};

// A contiguous range of an AUX buffer's byte stream in the file (PERF_RECORD_AUXTRACE).
struct AuxChunk {
  std::uint64_t file_offset = 0; // of the first trace byte
  std::uint64_t size = 0;        // bytes
  std::uint64_t aux_offset = 0;  // position in the buffer's byte stream
  std::uint64_t reference = 0;   // TSC at the time when perf copied it
};

// The trace of one AUX buffer: of one CPU (tid -1) or of one thread (cpu -1).
struct AuxBuffer {
  std::uint32_t index = 0; // PERF_RECORD_AUXTRACE idx
  std::int32_t cpu = -1;
  std::int32_t tid = -1;
  std::vector<AuxChunk> chunks; // by aux_offset
};

// The fields of perf_event_attr that later stages need, and the event's name from the file.
struct Attribute {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t sample_type = 0;
  bool exclude_kernel = false;
  bool exclude_user = false;
  bool context_switch = false; // the kernel writes switch records
  std::uint64_t registers = 0; // sample_regs_user: bit n is register n of asm/perf_regs.h
  std::vector<std::uint64_t> ids;
  std::string name; // HEADER_EVENT_DESC, empty where absent
};

// The tracepoints that record waits.
inline constexpr const char* switch_event = "sched:sched_switch";
inline constexpr const char* waking_event = "sched:sched_waking";
[[nodiscard]] inline bool is_wait_event(const Attribute& attribute) {
  return attribute.name == switch_event || attribute.name == waking_event;
}

// AUXTRACE_INFO of type 1 (tools/perf/util/intel-pt.h).
struct IntelPtInfo {
  std::uint32_t pmu_type = 0;
  std::uint64_t tsc_bit = 0; // masks in the event's config
  std::uint64_t noretcomp_bit = 0;
  std::uint64_t mtc_bit = 0;
  std::uint64_t mtc_freq_bits = 0;
  std::uint64_t cyc_bit = 0;
  std::uint32_t tsc_ctc_numerator = 0; // CPUID leaf 0x15: TSC ticks per crystal tick
  std::uint32_t tsc_ctc_denominator = 0;
  std::uint32_t max_nonturbo_ratio = 0;
  std::uint64_t have_sched_switch = 0;
  bool snapshot_mode = false;
  bool per_cpu_buffers = false;
  std::string filter;
};

struct BuildIdEntry { // HEADER_BUILD_ID
  std::int32_t pid = -1;
  std::string path;
  std::vector<std::uint8_t> build_id;
};

} // namespace ptlens::perfdata
