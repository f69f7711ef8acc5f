// Packets of a piece of trace, whose parts lie in different places of the recording: read where
// they are. A packet may begin in one part and end in another.
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

  // From the packet at `start`, an offset in the piece. The parts must outlive the parser.
  explicit PieceParser(Parts parts, std::uint64_t start = 0);

  // The packet here; passes it unless it is bad, or cut by the end of the piece.
  RawPacket next() {
    const RawPacket raw = parser_.next();
    return raw.kind == RawKind::cut ? next_across() : raw;
  }
  // Of the next packet, in the piece.
  [[nodiscard]] std::uint64_t offset() const { return offset_of(parser_.at()); }

  // What reads the part that the next packet is in, for as long as that goes, and sets it here.
  [[nodiscard]] const PacketParser& in_part() const { return parser_; }
  void set(const PacketParser& in_part) { parser_ = in_part; }
  [[nodiscard]] std::uint64_t offset_of(const std::uint8_t* at) const {
    return part_offset_ + static_cast<std::uint64_t>(at - part_begin_);
  }

  // To the next PSB behind the byte here; false where there is none: then to the end.
  bool skip_to_psb();
  void skip_to_end();
  // Where the first PSB begins at or behind `from`.
  [[nodiscard]] std::optional<std::uint64_t> find_psb(std::uint64_t from) const;

private:
  RawPacket next_across();
  void enter(std::size_t part, std::uint64_t part_offset);
  void move_to(std::uint64_t offset);
  [[nodiscard]] std::size_t copy(std::uint64_t offset, std::span<std::uint8_t> out) const;

  Parts parts_;
  std::size_t part_ = 0;
  std::uint64_t part_offset_ = 0; // of its first byte, in the piece
  const std::uint8_t* part_begin_ = nullptr;
  PacketParser parser_{nullptr, nullptr};
};

} // namespace ptlens::flow
