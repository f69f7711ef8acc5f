// The trace hardware of one processor, or of one thread wherever it runs, with the AUX buffer that
// it fills.
#pragma once

#include "recording/aux_buffer.hpp"
#include "trace/packet_writer.hpp"
#include "trace/trace_unit.hpp"

#include <cstdint>

namespace ptlens::ptsim {

class TraceChannel {
public:
  // Neither clock nor file is owned.
  TraceChannel(const TraceUnitConfig& config, const AuxBufferConfig& buffer, std::size_t lane,
               Clock& clock, PerfDataWriter& file)
      : unit_(config, clock, packets_), aux_(packets_, file, buffer), lane_(lane) {}

  [[nodiscard]] TraceUnit& unit() { return unit_; }
  [[nodiscard]] AuxBuffer& aux() { return aux_; }
  [[nodiscard]] std::size_t lane() const { return lane_; }
  [[nodiscard]] std::uint64_t bytes() const { return packets_.total(); } // written ever

  // The event is disabled until perf has emptied the buffer, ticks of the TSC; 0: it is not.
  [[nodiscard]] std::uint64_t disabled_until() const { return disabled_until_; }
  void disable_until(std::uint64_t tsc) { disabled_until_ = tsc; }

private:
  PacketWriter packets_;
  TraceUnit unit_;
  AuxBuffer aux_;
  std::size_t lane_;
  std::uint64_t disabled_until_ = 0;
};

} // namespace ptlens::ptsim
