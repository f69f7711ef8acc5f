// The AUX buffer between the trace hardware and the file: collects packet bytes and hands them on
// as the kernel and perf do, an AUX record each time the hardware stops or half the buffer is full,
// and the bytes themselves when perf reads. Unlike the kernel's it never overflows: the program
// waits.
#pragma once

#include "clock.hpp"
#include "packet_writer.hpp"
#include "perf_data_writer.hpp"

#include <cstdint>

namespace ptlens::ptsim {

class AuxBuffer {
public:
  // Nothing is owned. `size` is that of the whole buffer, bytes.
  AuxBuffer(PacketWriter& packets, const Clock& clock, PerfDataWriter& file, std::uint64_t size);

  void after_packets();    // flushes where half the buffer is full
  void hardware_stopped(); // announces what has been written since
  void flush();            // announces and writes everything

private:
  PacketWriter* packets_;
  const Clock* clock_;
  PerfDataWriter* file_;
  std::uint64_t size_;
  std::uint64_t announced_ = 0; // bytes of the stream
  std::uint64_t written_ = 0;
};

} // namespace ptlens::ptsim
