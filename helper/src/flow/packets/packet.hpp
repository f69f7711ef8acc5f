// What the decoders need of a packet: those that tell of control flow, each with the times between
// which it was sent. Packets that only tell time are used up in making them.
#pragma once

#include <cstdint>
#include <optional>

namespace ptlens::flow {

// Where in time something happened, ns of perf's clock: not before the one, not after the other.
struct TimeInterval {
  std::uint64_t earliest = 0;
  std::uint64_t latest = 0;
};

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

// Bits that a TNT packet of so many bytes can hold: a short one, or a long one.
[[nodiscard]] constexpr std::uint8_t tnt_room(std::uint8_t size) {
  constexpr std::uint8_t room_of_short = 6;
  constexpr std::uint8_t room_of_long = 47;
  return size == 1 ? room_of_short : room_of_long;
}

struct Packet {
  std::uint64_t value = 0;  // address, or the bits of a TNT: the oldest highest, 1 is taken
  std::uint64_t offset = 0; // of its first byte in the piece
  std::uint64_t earliest_ns = 0;
  std::uint64_t latest_ns = 0;
  std::uint64_t reported_ns = 0; // of a TNT: its branches happened not before, but for the last
  std::uint8_t size = 0;         // bytes
  std::uint8_t bit_count = 0;
  std::uint8_t room = 0; // of a TNT: see tnt_room()
  PacketKind kind = PacketKind::tnt;
  bool has_ip = false; // of FUP and TIP kinds: not suppressed
  bool timed = false;  // the clock had begun

  [[nodiscard]] std::uint64_t end() const { return offset + size; }

  [[nodiscard]] std::optional<TimeInterval> sent() const {
    return timed ? std::optional(TimeInterval{earliest_ns, latest_ns}) : std::nullopt;
  }

  // When the branch happened that is the bit of this number, 1 being the oldest. The one that
  // fills the packet sends it (SDM, "TNT packet").
  [[nodiscard]] std::optional<TimeInterval> when(std::uint8_t bit) const {
    return timed ? std::optional(TimeInterval{bit == room ? earliest_ns : reported_ns, latest_ns})
                 : std::nullopt;
  }
};

} // namespace ptlens::flow
