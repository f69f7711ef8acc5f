// Parses bytes into packets: Intel SDM vol. 3, "Intel Processor Trace", table of packet
// definitions. The functions are inline because they are called for some hundred million packets a
// second.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ptlens::flow {

enum class RawKind : std::uint8_t {
  bad, // no packet
  cut, // the buffer ends before the packet does
  pad,
  tnt,
  tip,
  pge,
  pgd,
  fup,
  cyc,
  mtc,
  tsc,
  tma,
  cbr,
  psb,
  psbend,
  overflow,
  mode_tsx,
  ptwrite,
  exstop,
  other, // control flow and time do not depend on it
};

struct RawPacket {
  std::uint64_t payload = 0; // bits, address bytes, ticks or cycles
  RawKind kind = RawKind::bad;
  std::uint8_t size = 0;  // bytes
  std::uint8_t count = 0; // bits of a TNT; IPBytes of an address; 1: binds the next FUP
  std::uint16_t fast = 0; // TMA's FastCounter
};

// Returns the address of a packet whose count, IPBytes, is not 0, given the last address before it:
// SDM vol. 3, table "IP compression".
[[nodiscard]] inline std::uint64_t decompressed(const RawPacket& raw, std::uint64_t last_ip) {
  constexpr std::uint64_t low_48 = 0xffffffffffff;
  constexpr std::uint8_t sign_extended = 3;
  static constexpr std::uint64_t kept[] = {0, ~0xffffULL, ~0xffffffffULL, 0, ~low_48, 0, 0, 0};
  return raw.count == sign_extended ? raw.payload | ((raw.payload >> 47U) != 0 ? ~low_48 : 0)
                                    : (last_ip & kept[raw.count & 7U]) | raw.payload;
}

// Reads the packets of one buffer, which must outlive the parser.
class PacketParser {
public:
  PacketParser(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

  [[nodiscard]] const std::uint8_t* at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  void move_to(const std::uint8_t* at) { at_ = at; }

  // Returns the packet here and passes it, unless it is bad or cut.
  [[gnu::always_inline]] RawPacket next() {
    const RawPacket packet = parse();
    at_ += packet.size;
    return packet;
  }

  // The following are for loops that look at the first byte themselves. Where has_room() returns
  // true, the packet here and, after a TNT of one byte, the two packets behind it are not cut.
  [[nodiscard]] bool has_room() const { return end_ - at_ >= room; }
  [[nodiscard]] static bool is_cyc(std::uint8_t first) { return (first & 3U) == 3; }
  [[nodiscard]] static bool is_short_tnt(std::uint8_t first) {
    return (first & 1U) == 0 && first > extension;
  }
  [[nodiscard]] static bool is_tip_with_address(std::uint8_t first) {
    return (first & 0x1fU) == 0x0d && first > 0x1f;
  }
  [[nodiscard]] static bool is_pgd_without_address(std::uint8_t first) { return first == 0x01; }
  // Returns the CYC packet here, and passes it unless it is bad.
  [[gnu::always_inline]] RawPacket next_cyc() {
    const RawPacket packet = cyc(*at_);
    at_ += packet.size;
    return packet;
  }
  // Reads a TIP packet with at least eight bytes after its first byte.
  [[nodiscard, gnu::always_inline]] RawPacket roomy_tip(std::uint8_t first) const {
    static constexpr std::uint64_t mask_of[] = {
        0, 0xffff, 0xffffffff, 0xffffffffffff, 0xffffffffffff, 0, ~0ULL, 0};
    const auto count = static_cast<std::uint8_t>(first >> 5U);
    const std::uint8_t size = address_packet_size[count];
    return {.payload = number<8>(1) & mask_of[count],
            .kind = size != 0 ? RawKind::tip : RawKind::bad,
            .size = size,
            .count = count};
  }
  // Returns the address of the next packet, or of the packet after a short CYC, if that is a TIP,
  // so that its data can be loaded ahead of time. Returns 0 for other packets.
  [[nodiscard, gnu::always_inline]] std::uint64_t target_ahead(std::uint64_t last_ip) const {
    const bool cycles = is_cyc(at_[0]);
    const std::uint8_t* const at = at_ + (cycles ? 1 + (at_[0] >> 2U & 1U) : 0U);
    if ((*at & 0x1fU) != 0x0d) {
      return 0;
    }
    PacketParser there(*this);
    there.at_ = at;
    return decompressed(there.roomy_tip(*at), last_ip);
  }

private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  // Returns little-endian bytes as a number.
  template <std::size_t bytes>
  [[nodiscard]] std::uint64_t number(std::size_t offset) const {
    std::uint64_t value = 0;
    std::memcpy(&value, at_ + offset, bytes);
    return value;
  }

  [[nodiscard]] static RawPacket cut() { return {.kind = RawKind::cut}; }

  [[nodiscard]] RawPacket sized(RawKind kind, std::uint8_t size) const {
    return left() < size ? cut() : RawPacket{.kind = kind, .size = size};
  }

  [[nodiscard, gnu::always_inline]] RawPacket parse() const {
    if (at_ == end_) {
      return cut();
    }
    const std::uint8_t first = *at_;
    if (is_cyc(first)) {
      return cyc(first);
    }
    if (is_short_tnt(first)) {
      const auto bits = static_cast<std::uint8_t>(std::bit_width(first) - 2);
      return {.payload = (first >> 1U) & ((1U << bits) - 1U),
              .kind = RawKind::tnt,
              .size = 1,
              .count = bits};
    }
    constexpr std::ptrdiff_t most_bytes = 9;
    if ((first & 0x1fU) == 0x0d && end_ - at_ >= most_bytes) {
      return roomy_tip(first);
    }
    return rare(first);
  }

  // The size of a packet with an address, by IPBytes; 0: reserved.
  static constexpr std::uint8_t address_packet_size[] = {1, 3, 5, 7, 7, 0, 9, 0};

  [[nodiscard, gnu::noinline]] RawPacket rare(std::uint8_t first) const {
    switch (first) {
    case 0:
      return {.kind = RawKind::pad, .size = 1};
    case extension:
      return extended();
    default:
      break;
    }
    switch (first & 0x1fU) {
    case 0x0d:
      return with_address(RawKind::tip);
    case 0x11:
      return with_address(RawKind::pge);
    case 0x01:
      return with_address(RawKind::pgd);
    case 0x1d:
      return with_address(RawKind::fup);
    case 0x19:
      return with_fixed_header(first);
    default:
      return {};
    }
  }

  [[nodiscard]] RawPacket with_fixed_header(std::uint8_t first) const {
    switch (first) {
    case 0x19: {
      RawPacket packet = sized(RawKind::tsc, 8);
      if (packet.size != 0) {
        packet.payload = number<7>(1);
      }
      return packet;
    }
    case 0x59: {
      RawPacket packet = sized(RawKind::mtc, 2);
      if (packet.size != 0) {
        packet.payload = at_[1];
      }
      return packet;
    }
    case 0x99: {
      constexpr unsigned leaf_tsx = 1; // 0 is MODE.Exec
      RawPacket packet = sized(RawKind::other, 2);
      if (packet.size == 0 || at_[1] >> 5U == 0) {
        return packet;
      }
      packet.kind = RawKind::mode_tsx;
      packet.count = 1;
      return at_[1] >> 5U == leaf_tsx ? packet : RawPacket{};
    }
    default:
      return {};
    }
  }

  [[nodiscard, gnu::always_inline]] RawPacket cyc(std::uint8_t first) const {
    return (first & 4U) == 0
               ? RawPacket{.payload = std::uint64_t{first} >> 3U, .kind = RawKind::cyc, .size = 1}
               : long_cycles();
  }

  [[nodiscard, gnu::always_inline]] RawPacket long_cycles() const {
    if (end_ - at_ >= 2 && (at_[1] & 1U) == 0) {
      return {.payload = static_cast<std::uint64_t>(at_[0] >> 3U) |
                         static_cast<std::uint64_t>(at_[1] >> 1U) << 5U,
              .kind = RawKind::cyc,
              .size = 2};
    }
    return longer_cycles();
  }

  [[nodiscard, gnu::noinline]] RawPacket longer_cycles() const {
    constexpr std::size_t most_bytes = 9; // of a count that fits into 64 bits
    std::uint64_t value = *at_ >> 3U;
    bool more = true;
    std::uint8_t size = 1;
    for (unsigned shift = 5; more; shift += 7, ++size) {
      if (size == left()) {
        return cut();
      }
      if (size == most_bytes) {
        return {};
      }
      const std::uint8_t byte = at_[size];
      value |= static_cast<std::uint64_t>(byte >> 1U) << shift;
      more = (byte & 1U) != 0;
    }
    return {.payload = value, .kind = RawKind::cyc, .size = size};
  }

  [[nodiscard]] RawPacket with_address(RawKind kind) const {
    const auto count = static_cast<std::uint8_t>(*at_ >> 5U);
    const std::uint8_t size = address_packet_size[count];
    if (size == 0) {
      return {};
    }
    RawPacket packet = sized(kind, size);
    if (packet.size != 0) {
      packet.count = count;
      std::memcpy(&packet.payload, at_ + 1, size - 1U);
    }
    return packet;
  }

  [[nodiscard]] RawPacket extended() const;

  static constexpr std::uint8_t extension = 0x02;
  static constexpr std::ptrdiff_t room = 16; // bytes

  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

} // namespace ptlens::flow
