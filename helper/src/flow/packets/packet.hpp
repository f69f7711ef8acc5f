// The packets that report control flow, each with the times between which it was sent. Packets that
// report nothing but time are used up to compute these times.
#pragma once

#include "flow/branches/uncertain_time.hpp"

#include <cstdint>
#include <optional>

namespace ptlens::flow {

enum class PacketKind : std::uint8_t {
  tnt,
  tip,
  pge,
  pgd,
  fup,
  psb,
  psbend,
  overflow,
  binding, // MODE.TSX, PTW or EXSTOP whose address the next FUP states
};

// Returns the number of bits that a TNT packet of that size in bytes has room for.
[[nodiscard]] constexpr std::uint8_t tnt_room(std::uint8_t size) {
  constexpr std::uint8_t room_of_short = 6;
  constexpr std::uint8_t room_of_long = 47;
  return size == 1 ? room_of_short : room_of_long;
}

struct Packet {
  std::uint64_t value = 0;  // address, or the bits of a TNT: the oldest is the highest, 1 is taken
  std::uint64_t offset = 0; // of its first byte in the piece
  std::uint64_t earliest_ns = 0;
  std::uint64_t latest_ns = 0;
  std::uint64_t reported_ns = 0; // of a TNT: the branches but the last happened no earlier
  std::uint8_t size = 0;         // bytes
  std::uint8_t bit_count = 0;
  std::uint8_t room = 0; // of a TNT: see tnt_room()
  PacketKind kind = PacketKind::tnt;
  bool has_ip = false; // of FUP and TIP kinds: not suppressed
  bool timed = false;  // the trace had a timing packet before

  [[nodiscard]] std::uint64_t end() const { return offset + size; }

  [[nodiscard]] std::optional<TimeInterval> sent() const {
    return timed ? std::optional(TimeInterval{earliest_ns, latest_ns}) : std::nullopt;
  }

  // Returns when the branch of the bit with this number happened, 1 being the oldest. The bit that
  // fills the packet causes the processor to send it (SDM, "TNT packet").
  [[nodiscard]] std::optional<TimeInterval> when(std::uint8_t bit) const {
    return timed ? std::optional(TimeInterval{bit == room ? earliest_ns : reported_ns, latest_ns})
                 : std::nullopt;
  }
};

} // namespace ptlens::flow
