// The AUX buffer between the trace hardware and the file: collects packet bytes and hands them on
// as the kernel and perf do, an AUX record each time the hardware stops or half the buffer is full,
// and the bytes themselves when perf reads. Unlike the kernel's it never overflows: the program
// waits.
#pragma once

#include "packet_writer.hpp"
#include "perf_data_writer.hpp"

#include <cstdint>

namespace ptlens::ptsim {

class AuxBuffer {
public:
  // Nothing is owned. `size` is that of the whole buffer, bytes. Stamps are those of the lane.
  AuxBuffer(PacketWriter& packets, PerfDataWriter& file, std::uint64_t size);

  // Half the buffer or more waits to be read.
  [[nodiscard]] bool half_full() const { return packets_->bytes().size() >= size_ / 2; }

  // Announces what has been written since the last time; flags: PERF_AUX_FLAG_.
  void hardware_stopped(const Stamp& stamp, std::uint64_t flags = 0);
  // Announces and hands everything to the file.
  void flush(const Stamp& stamp, std::uint64_t tsc);

private:
  PacketWriter* packets_;
  PerfDataWriter* file_;
  std::uint64_t size_;
  std::uint64_t announced_ = 0; // bytes of the stream
  std::uint64_t written_ = 0;
};

} // namespace ptlens::ptsim
