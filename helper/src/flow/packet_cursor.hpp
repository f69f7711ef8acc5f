// A walk over the packets of one stretch of trace, ahead of any knowledge of the code: keeps the
// last IP (SDM vol. 3, "IP compression") and the clock, and says between which times each packet
// was sent. A CYC packet is sent with the packet that it precedes and gives its exact time, and
// without a threshold its absence says that no cycle passed (SDM, "CYC packet"). Any other packet
// was sent between the timing packets around it. Used to find where decoding can begin and where it
// can go on after a gap, without waiting for the next PSB.
#pragma once

#include "flow/trace_clock.hpp"

#include <intel-pt.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::flow {

// Where in time something happened, TSC ticks: not before the one, not after the other.
struct TscInterval {
  std::uint64_t earliest = 0;
  std::uint64_t latest = 0;
};

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
    // Of TNT, TIP and FUP kinds and PSBEND, where the clock has begun.
    std::optional<TscInterval> sent;
    // Of TNT: when the branches that it reports happened, which may wait for the packet to fill.
    std::optional<TscInterval> reported;

    // When the branch happened that is the bit of this number, 1 being the oldest. The one that
    // fills the packet sends it (SDM, "TNT packet": 6 bits, or 47).
    [[nodiscard]] const std::optional<TscInterval>& when(std::uint8_t bit) const {
      return bit == (type == ppt_tnt_8 ? 6 : 47) ? sent : reported;
    }
  };

  // Packets that end at `end` or before were sent no later than `tsc`.
  struct Bound {
    std::uint64_t end = 0;
    std::uint64_t tsc = 0;
  };

  // The buffer of `config` must outlive the cursor. `bounds` by end.
  PacketCursor(const pt_config& config, const ClockConfig& clock, std::vector<Bound> bounds = {});

  // The next packet; nothing at the end. Bytes that are no packet are skipped up to the next PSB
  // and counted in bad_packets().
  std::optional<Packet> next();

  // Passes over packets that begin before `offset`.
  void advance_to(std::uint64_t offset);

  // TSC ticks at the last timing packet passed; nothing before the first TSC.
  [[nodiscard]] std::optional<std::uint64_t> now() const { return now_; }
  // The last TNT, TIP, FUP or PSBEND passed.
  [[nodiscard]] const Packet& last_flow() const { return last_flow_; }
  // The last TIP.PGE and TIP.PGD passed.
  [[nodiscard]] const Packet& last_enabling() const { return last_enabling_; }
  [[nodiscard]] const Packet& last_disabling() const { return last_disabling_; }
  // The last TNT passed, or TIP that is not the target of an asynchronous event.
  [[nodiscard]] const Packet& last_decision() const { return last_decision_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t bad_packets() const { return bad_packets_; }

private:
  struct Free {
    void operator()(pt_packet_decoder* decoder) const { pt_pkt_free_decoder(decoder); }
  };
  struct Ahead { // read, not passed
    Packet packet;
    std::optional<std::uint64_t> now; // behind it
    bool certain = false;             // now is not too early for want of cycles
    bool exact = false;               // now is when it was sent
  };
  bool read();
  void update(const pt_packet& packet, Ahead& ahead);
  void resolve_ip(const pt_packet_ip& payload, Packet& seen);
  void place_in_time(Ahead& ahead);
  std::uint64_t next_time_after(std::uint64_t now);
  std::uint64_t latest_for(const Packet& packet, std::uint64_t now);

  std::unique_ptr<pt_packet_decoder, Free> decoder_;
  bool every_cycle_;
  std::vector<Bound> bounds_;
  std::size_t next_bound_ = 0;
  TraceClock clock_; // behind the last packet read
  std::uint64_t last_ip_ = 0;
  std::uint64_t read_offset_ = 0;
  bool cycles_just_read_ = false;
  std::deque<Ahead> ahead_;
  std::size_t timed_ = 0; // of ahead_: all before it are known to stand at one time
  std::optional<std::uint64_t> now_;
  Packet last_flow_;
  Packet last_enabling_;
  Packet last_disabling_;
  Packet last_decision_;
  std::uint64_t offset_ = 0;
  std::uint64_t bad_packets_ = 0;
};

} // namespace ptlens::flow
