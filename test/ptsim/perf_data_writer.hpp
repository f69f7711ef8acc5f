// Writes a perf.data file as `perf record -e intel_pt/.../u` of perf 6.1 does: file header,
// attributes, records, trace, features. Layouts: kernel include/uapi/linux/perf_event.h (kernel
// records), tools/lib/perf/include/perf/event.h (perf's own), tools/perf/util/intel-pt.h
// (AUXTRACE_INFO).
#pragma once

#include "base/error.hpp"
#include "byte_buffer.hpp"
#include "clock.hpp"
#include "file_header.hpp"
#include "mappings.hpp"

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace ptlens::ptsim {

struct RecordingConfig {
  std::string path;
  std::vector<std::string> command_line;
  std::string event; // as given with -e
  std::uint64_t event_config = 0;
  bool per_thread = false;    // one AUX buffer of the thread, else one of each CPU
  bool switch_events = false; // always on per CPU
  bool build_ids = true;
  pid_t pid = -1;
  pid_t tid = -1;
  std::uint32_t cpu = 0; // that the thread is said to run on
  std::string comm;
  ClockRates rates;
  TimeConversion conversion;
};

class PerfDataWriter {
public:
  // Moves an existing file to PATH.old, as perf does, and writes what stands before the first
  // event.
  static Result<PerfDataWriter> create(const RecordingConfig& config);

  // Times are ns of perf's clock, 0 for what perf synthesises before it records. They must not
  // fall.
  void comm(std::uint64_t time, const std::string& name, bool exec);
  void mapping(std::uint64_t time, const Mapping& mapping, std::span<const std::uint8_t> build_id);
  void fork(std::uint64_t time, pid_t pid, pid_t tid);
  void exit(std::uint64_t time);
  void trace_start(std::uint64_t time);
  void switch_out(std::uint64_t time, bool preempted);
  void switch_in(std::uint64_t time);
  void aux(std::uint64_t time, std::uint64_t offset, std::uint64_t size);
  // Trace bytes that belong at `offset` of the AUX buffer's stream; `tsc` is the time of copying.
  void trace(std::span<const std::uint8_t> bytes, std::uint64_t offset, std::uint64_t tsc);

  // Writes the features and completes the header. Errors: failed, when the disk refused any byte.
  Result<void> finish();

private:
  explicit PerfDataWriter(const RecordingConfig& config);
  void write_preamble();
  void record(std::uint32_t type, std::uint16_t misc, const ByteBuffer& body);
  void event(std::uint32_t type, std::uint16_t misc, ByteBuffer body, std::uint64_t time,
             std::uint64_t id, bool without_thread = false);
  void switched(std::uint64_t time, std::uint16_t misc);
  void write(const ByteBuffer& bytes);
  void write_header(std::uint64_t data_end, std::span<const std::uint64_t, 4> features);

  RecordingConfig config_;
  std::ofstream file_;
  Features features_;
  std::uint64_t position_ = 0; // next byte in the file
  std::uint64_t data_begin_ = 0;
};

} // namespace ptlens::ptsim
