// Parses the packets that begin with the extension byte.
#include "flow/packets/packet_parser.hpp"

namespace ptlens::flow {
namespace {

constexpr std::uint8_t psb_size = 16;

bool is_psb(const std::uint8_t* at) {
  for (std::size_t index = 0; index < psb_size; index += 2) {
    if (at[index] != 0x02 || at[index + 1] != 0x82) {
      return false;
    }
  }
  return true;
}

} // namespace

RawPacket PacketParser::extended() const {
  if (left() < 2) {
    return cut();
  }
  const std::uint8_t second = at_[1];
  switch (second) {
  case 0x82: {
    RawPacket packet = sized(RawKind::psb, psb_size);
    return packet.size == 0 || is_psb(at_) ? packet : RawPacket{};
  }
  case 0x23:
    return sized(RawKind::psbend, 2);
  case 0xf3:
    return sized(RawKind::overflow, 2);
  case 0x03: {
    RawPacket packet = sized(RawKind::cbr, 4);
    if (packet.size != 0) {
      packet.payload = at_[2];
    }
    return packet;
  }
  case 0x73: {
    RawPacket packet = sized(RawKind::tma, 7);
    if (packet.size == 0) {
      return packet;
    }
    constexpr std::uint16_t largest_fast = 0x1ff;
    packet.payload = number<2>(2);
    packet.fast = static_cast<std::uint16_t>(number<2>(5));
    const bool reserved_bits = at_[4] != 0 || packet.fast > largest_fast;
    return reserved_bits ? RawPacket{} : packet;
  }
  case 0xa3: {
    RawPacket packet = sized(RawKind::tnt, 8);
    if (packet.size == 0) {
      return packet;
    }
    const std::uint64_t bits = number<6>(2);
    if (bits == 0) {
      return {};
    }
    packet.count = static_cast<std::uint8_t>(std::bit_width(bits) - 1);
    packet.payload = bits & ((std::uint64_t{1} << packet.count) - 1);
    return packet;
  }
  case 0x62:
  case 0xe2: {
    RawPacket packet = sized(RawKind::exstop, 2);
    packet.count = static_cast<std::uint8_t>(second >> 7U);
    return packet;
  }
  case 0x83: // TraceStop
  case 0x33: // BEP
  case 0xb3:
    return sized(RawKind::other, 2);
  case 0x63: // BBP
    return sized(RawKind::other, 3);
  case 0x22: // PWRE
  case 0x13: // CFE
    return sized(RawKind::other, 4);
  case 0xc8: // VMCS
  case 0xa2: // PWRX
    return sized(RawKind::other, 7);
  case 0x43: // PIP
    return sized(RawKind::other, 8);
  case 0xc2: // MWAIT
    return sized(RawKind::other, 10);
  case 0xc3: // MNT
    return left() > 2 && at_[2] != 0x88 ? RawPacket{} : sized(RawKind::other, 11);
  case 0x53: // EVD
    return sized(RawKind::other, 11);
  default:
    break;
  }
  constexpr std::uint8_t ptwrite_low_bits = 0x12;
  if ((second & 0x1fU) == ptwrite_low_bits) {
    const std::uint8_t length = (second >> 5U) & 3U;
    if (length > 1) {
      return {};
    }
    RawPacket packet = sized(RawKind::ptwrite, length == 0 ? 6 : 10);
    packet.count = static_cast<std::uint8_t>(second >> 7U);
    return packet;
  }
  return {};
}

} // namespace ptlens::flow
