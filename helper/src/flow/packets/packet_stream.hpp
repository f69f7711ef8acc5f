// Reads the packets of a stretch of trace, without knowledge of the code. The stream keeps the last
// IP (SDM vol. 3, "IP compression") and the clock, and gives each packet the interval of time in
// which it was sent. A CYC packet is sent together with the packet that it precedes and gives its
// exact time. Without a threshold, the absence of a CYC packet means that no cycle passed (SDM,
// "CYC packet"), provided that the processor sends them at all: a recording may have asked for
// cycles and contain none. Any other packet was sent between the timing packets around it. All
// state is reset at each PSB, so that a stream that begins at a PSB gives the same packets as one
// that came there.
#pragma once

#include "flow/packets/packet.hpp"
#include "flow/packets/piece_parser.hpp"
#include "flow/packets/trace_clock.hpp"
#include "flow/packets/trace_piece.hpp"
#include "perfdata/contents/time_conversion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::flow {

class PacketStream {
public:
  // Begins with the packet at `start`. The piece must outlive the stream.
  PacketStream(const TracePiece& piece, const ClockConfig& clock,
               const perfdata::TimeConversion& conversion, std::uint64_t start = 0);

  // Returns the next packet, nullptr at the end; it is valid until pop(). Bytes that are no packet
  // are skipped up to the next PSB and counted in bad_packets().
  [[nodiscard]] const Packet* peek() {
    return next_ < placed_ || fill() ? &packets_[next_] : nullptr;
  }
  // Passes the packet that peek() returned.
  void pop() {
    const Packet& packet = packets_[next_++];
    offset_ = packet.end();
    if (packet.timed) {
      now_ns_ = packet.earliest_ns;
      latest_ns_ = packet.latest_ns;
      has_time_ = true;
    }
  }

  // The state of the stream where the time of every packet is known as soon as it is read, as
  // nearly always with cycle packets. A caller may read packets itself from here and return the
  // state.
  struct Exact {
    PacketParser parser;
    TraceClock clock;
    std::uint64_t last_ip = 0;
    std::uint64_t flow_ns = 0;            // of the last packet of control flow
    bool after_cycles = false;            // the last packet read was a CYC
    const std::uint8_t* passed = nullptr; // after the last packet of control flow that it read
  };
  [[nodiscard]] bool is_exact() const {
    return next_ == packets_.size() && last_flow_ns_ && clock_config_.every_cycle && cycles_seen_ &&
           clock_.is_certain();
  }
  // Returns when the last packet of control flow since the PSB was sent, ns; 0 where there is none.
  [[nodiscard]] std::uint64_t flow_ns() const { return last_flow_ns_.value_or(0); }
  // To be called while is_exact() returns true.
  [[nodiscard]] Exact exact() const {
    return {.parser = parser_.in_chunk(),
            .clock = clock_,
            .last_ip = last_ip_,
            .flow_ns = flow_ns(),
            .after_cycles = after_cycles_,
            .passed = nullptr};
  }
  void go_on_from(const Exact& exact);
  [[nodiscard]] const perfdata::TimeConversion& conversion() const { return conversion_; }

  // Passes the packets that begin before `offset`.
  void advance_to(std::uint64_t offset) {
    while (peek() != nullptr && peek()->offset < offset) {
      pop();
    }
  }

  // Returns the time at the last packet passed, or at the end, the time of the last timing packet.
  // Returns nullopt before the first TSC.
  [[nodiscard]] std::optional<std::uint64_t> now_ns() const {
    return has_time_ ? std::optional(now_ns_) : std::nullopt;
  }
  // Returns the latest time at which the last packet passed may have been sent; 0 before the first
  // TSC.
  [[nodiscard]] std::uint64_t latest_ns() const { return latest_ns_; }
  // Returns the offset after the last packet passed.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  // Returns the offset up to which bytes were looked at.
  [[nodiscard]] std::uint64_t read_until() const {
    constexpr std::uint64_t longest_packet = 16;
    return parser_.offset() + longest_packet;
  }
  // Returns the number of bytes before the offset that should begin a packet, but do not. The bytes
  // behind them up to the next PSB are skipped.
  [[nodiscard]] std::uint64_t bad_packets(std::uint64_t before) const {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        bad_packets_, [before](std::uint64_t offset) { return offset < before; }));
  }

private:
  bool fill();
  bool parse_next();
  void parse(const RawPacket& raw, std::uint64_t offset);
  void add(const RawPacket& raw, PacketKind kind, std::uint64_t offset);
  void begin_anew();
  void time_passed();
  void place(Packet& packet, std::optional<std::uint64_t> next_ns);
  void place_first(std::optional<std::uint64_t> next_ns);
  [[nodiscard]] std::uint64_t to_ns(std::uint64_t tsc);

  PieceParser parser_;
  ClockConfig clock_config_;
  perfdata::TimeConversion conversion_;
  std::span<const Announcement> announced_; // of bytes after the placed packets
  TraceClock clock_;                        // after the last packet parsed
  std::uint64_t last_ip_ = 0;
  bool after_cycles_ = false;                 // the last packet parsed was a CYC
  bool cycles_seen_ = false;                  // a CYC was parsed since the PSB
  std::optional<std::uint64_t> last_flow_ns_; // earliest time of the last flow packet since the PSB
  std::uint64_t converted_tsc_ = 0;           // the last time converted, and
  std::uint64_t converted_ns_ = 0;            // what to
  std::vector<Packet> packets_;               // parsed
  std::vector<std::uint64_t> ticks_;          // earliest TSC ticks at which each was sent
  std::uint64_t timing_width_ns_ = 0; // between the last two timing packets with packets between
  std::size_t next_ = 0;              // index in packets_ of the first one that was not passed
  std::size_t placed_ = 0;            // packets_ before this index have their latest time too
  std::uint64_t now_ns_ = 0;
  std::uint64_t latest_ns_ = 0;
  bool has_time_ = false;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> bad_packets_; // offsets
};

} // namespace ptlens::flow
