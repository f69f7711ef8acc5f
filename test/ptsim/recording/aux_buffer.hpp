// The AUX buffer between the trace hardware and the file: collects packet bytes and hands them on
// as the kernel and perf do, an AUX record each time the hardware stops, and the bytes themselves
// when perf reads. Unlike the kernel's it overflows only on demand: the program waits.
//
// In snapshot mode it is a ring that new bytes overwrite, and nothing is written but snapshots:
// what came since the last one, and once the ring has been filled all that it holds
// (intel_pt_find_snapshot, tools/perf/arch/x86/util/intel-pt.c).
#pragma once

#include "file/perf_data_writer.hpp"
#include "trace/packet_writer.hpp"

#include <cstdint>

namespace ptlens::ptsim {

struct AuxBufferConfig {
  std::uint64_t size = 4 << 20; // bytes
  bool snapshot = false;
  std::uint64_t snapshot_size = 0; // the last bytes of the ring are enough; 0: all
};

class AuxBuffer {
public:
  // Nothing is owned. Stamps are those of the buffer's lane.
  AuxBuffer(PacketWriter& packets, PerfDataWriter& file, const AuxBufferConfig& config)
      : packets_(&packets), file_(&file), config_(config) {}
  AuxBuffer(PacketWriter& packets, PerfDataWriter& file, std::uint64_t size)
      : AuxBuffer(packets, file, AuxBufferConfig{.size = size}) {}

  // The hardware must be stopped, so that perf can read: half the buffer or more is full. Never in
  // snapshot mode.
  [[nodiscard]] bool half_full() const {
    return !config_.snapshot && packets_->bytes().size() >= config_.size / 2;
  }
  // Forgets what new bytes have overwritten.
  void wrap();

  // Announces what has been written since the last time; flags: PERF_AUX_FLAG_.
  void hardware_stopped(const Stamp& stamp, std::uint64_t flags = 0);
  // Hands to the file what was announced; nothing in snapshot mode.
  void read(std::size_t lane, std::uint64_t tsc);
  // Both.
  void flush(const Stamp& stamp, std::uint64_t tsc) {
    hardware_stopped(stamp);
    read(stamp.lane, tsc);
  }
  // Hands a snapshot to the file, after the hardware stopped.
  void snapshot(std::size_t lane, std::uint64_t tsc);

private:
  PacketWriter* packets_;
  PerfDataWriter* file_;
  AuxBufferConfig config_;
  std::uint64_t announced_ = 0; // bytes of the stream
  std::uint64_t written_ = 0;
};

} // namespace ptlens::ptsim
