// Writes a perf.data file as `perf record -e intel_pt/.../u` of perf 6.1 does: file header,
// attributes, records, trace, features. Layouts: kernel include/uapi/linux/perf_event.h (kernel
// records), tools/lib/perf/include/perf/event.h (perf's own).
//
// Records collect in their lanes, the kernel's ring buffers. A round writes every lane's records,
// each followed by its trace, and FINISHED_ROUND, as perf does each time it has read all buffers
// (record__mmap_read_evlist). So times rise within a lane, and a record may be older than those of
// another lane, but never older than a record of the round before the last.
#pragma once

#include "base/error.hpp"
#include "code/mappings.hpp"
#include "file/byte_buffer.hpp"
#include "file/file_header.hpp"
#include "file/recording_config.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <linux/perf_event.h>
#include <span>
#include <string>
#include <vector>

namespace ptlens::ptsim {

// What the kernel notes with each record.
struct Stamp {
  std::size_t lane = 0;
  std::uint64_t time = 0; // ns of perf's clock; 0: perf made the record up before it recorded
  Task task;              // that ran
  std::uint32_t cpu = 0;
};

class PerfDataWriter {
public:
  // Moves an existing file to PATH.old, as perf does, and writes everything before the first
  // event. Errors: failed.
  static Result<PerfDataWriter> create(const RecordingConfig& config);

  // Records are about the stamp's task. Times of one lane must not fall.
  void comm(const Stamp& stamp, const std::string& name, bool exec);
  void mapping(const Stamp& stamp, const Mapping& mapping, std::span<const std::uint8_t> build_id);
  // Of the kernel, named after the symbol at its start.
  void kernel_mapping(std::uint64_t start, std::uint64_t length,
                      std::span<const std::uint8_t> build_id);
  void fork(const Stamp& stamp, Task child);
  void exit(const Stamp& stamp);
  void trace_start(const Stamp& stamp);
  // The stamp's task leaves the CPU to `next`, comes to it after `previous`: SWITCH_CPU_WIDE in a
  // CPU's lane, SWITCH where only the recorded tasks have such records, and in a thread's lane
  // where the configuration has switch events.
  void switch_out(const Stamp& stamp, Task next, bool preempted);
  void switch_in(const Stamp& stamp, Task previous);
  // Trace bytes [offset, offset + size) of the lane's stream are there; flags: PERF_AUX_FLAG_.
  void aux(const Stamp& stamp, std::uint64_t offset, std::uint64_t size, std::uint64_t flags = 0);
  void lost(const Stamp& stamp, std::uint64_t records);

  // Trace bytes that belong at `offset` of the lane's stream; `tsc` is the time of copying. They
  // are written with the next round.
  void trace(std::size_t lane, std::span<const std::uint8_t> bytes, std::uint64_t offset,
             std::uint64_t tsc);

  void finish_round();

  // Writes the last round, the features and completes the header. Errors: failed, when the disk
  // refused any byte.
  Result<void> finish();

  // Bytes of records and trace that wait for the end of the round.
  [[nodiscard]] std::size_t pending() const { return pending_; }

private:
  struct TracePiece {
    std::uint64_t offset = 0;
    std::uint64_t tsc = 0;
    std::vector<std::uint8_t> bytes;
  };
  struct LaneContents {
    ByteBuffer records;
    std::vector<TracePiece> trace;
  };

  explicit PerfDataWriter(const RecordingConfig& config);
  void write_preamble();
  void event(std::uint32_t type, std::uint16_t misc, ByteBuffer body, const Stamp& stamp,
             std::size_t of);
  void switched(const Stamp& stamp, std::uint16_t misc, Task other);
  void write_trace(std::size_t lane, const TracePiece& piece);
  void write(const ByteBuffer& bytes);
  void write_header(std::uint64_t data_end, const std::array<std::uint64_t, 4>& features);

  RecordingConfig config_;
  std::ofstream file_;
  Features features_;
  std::vector<LaneContents> lanes_;
  std::size_t pending_ = 0;
  std::uint64_t position_ = 0; // next byte in the file
  std::uint64_t data_begin_ = 0;
};

} // namespace ptlens::ptsim
