// Reads the packets of a piece of trace in place: its spans are at different offsets in the
// recording. A packet may begin in one span and end in another.
#pragma once

#include "flow/packets/packet_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::flow {

class PieceParser {
public:
  using Parts = std::span<const std::span<const std::byte>>;

  // Begins with the packet at `start`, an offset in the piece. The spans must outlive the parser.
  explicit PieceParser(Parts parts, std::uint64_t start = 0);

  // Returns the packet here and passes it, unless it is bad, or cut by the end of the piece.
  RawPacket next() {
    const RawPacket raw = parser_.next();
    return raw.kind == RawKind::cut ? next_across() : raw;
  }
  // Returns the offset of the next packet in the piece.
  [[nodiscard]] std::uint64_t offset() const { return offset_of(parser_.at()); }

  // The parser of the span that the next packet is in. A caller may read on with a copy of it as
  // far as the span reaches, and set it here.
  [[nodiscard]] const PacketParser& in_part() const { return parser_; }
  void set(const PacketParser& in_part) { parser_ = in_part; }
  [[nodiscard]] std::uint64_t offset_of(const std::uint8_t* at) const {
    return part_offset_ + static_cast<std::uint64_t>(at - part_begin_);
  }

  // Moves to the next PSB after the byte here. Returns false, at the end, where there is none.
  bool skip_to_psb();
  void skip_to_end();
  // Returns the offset of the first PSB at or after `from`.
  [[nodiscard]] std::optional<std::uint64_t> find_psb(std::uint64_t from) const;

private:
  RawPacket next_across();
  void enter(std::size_t part, std::uint64_t part_offset);
  void move_to(std::uint64_t offset);
  [[nodiscard]] std::size_t copy(std::uint64_t offset, std::span<std::uint8_t> out) const;

  Parts parts_;
  std::size_t part_ = 0;
  std::uint64_t part_offset_ = 0; // offset of its first byte in the piece
  const std::uint8_t* part_begin_ = nullptr;
  PacketParser parser_{nullptr, nullptr};
};

} // namespace ptlens::flow
