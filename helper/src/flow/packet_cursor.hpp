// A walk over the packets of one stretch of trace, ahead of any knowledge of the code: keeps the
// last IP (SDM vol. 3, "IP compression") and the clock. Used to find where decoding can begin and
// where it can go on after a gap, without waiting for the next PSB.
#pragma once

#include "flow/trace_clock.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace ptlens::flow {

class PacketCursor {
public:
  struct Packet {
    pt_packet_type type = ppt_invalid;
    std::uint64_t offset = 0; // of its first byte in the buffer
    std::uint64_t end = 0;    // one past its last byte
    bool has_ip = false;      // of FUP and TIP kinds: not suppressed
    std::uint64_t ip = 0;
    std::uint64_t bits = 0; // of TNT, the oldest highest; 1 is taken
    std::uint8_t bit_count = 0;
    bool binds_fup = false; // MODE.TSX, PTW and EXSTOP whose address the next FUP states
  };

  // The buffer of `config` must outlive the cursor.
  PacketCursor(const pt_config& config, const ClockConfig& clock);

  // The next packet; nothing at the end. Bytes that are no packet are skipped up to the next PSB
  // and counted in bad_packets().
  std::optional<Packet> next();

  // Passes over packets that begin before `offset`.
  void advance_to(std::uint64_t offset);

  [[nodiscard]] const TraceClock& clock() const { return clock_; }
  // TSC ticks when the last TNT, TIP or FUP kind of packet was sent; nothing before the first TSC.
  // Timing packets behind it belong to what follows.
  [[nodiscard]] std::optional<std::uint64_t> flow_time() const { return flow_time_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t bad_packets() const { return bad_packets_; }

private:
  struct Free {
    void operator()(pt_packet_decoder* decoder) const { pt_pkt_free_decoder(decoder); }
  };
  void update(const pt_packet& packet, Packet& seen);
  void resolve_ip(const pt_packet_ip& payload, Packet& seen);

  std::unique_ptr<pt_packet_decoder, Free> decoder_;
  TraceClock clock_;
  std::optional<std::uint64_t> flow_time_;
  std::uint64_t last_ip_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t bad_packets_ = 0;
};

} // namespace ptlens::flow
