// Reads the packets of a piece of trace in place: its chunks are at different offsets in the
// recording. A packet may begin in one chunk and end in another.
#pragma once

#include "flow/packets/packet_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::flow {

class PieceParser {
public:
  using Chunks = std::span<const std::span<const std::byte>>;

  // Begins with the packet at `start`, an offset in the piece. The chunks must outlive the parser.
  explicit PieceParser(Chunks chunks, std::uint64_t start = 0);

  // Returns the packet here and passes it, unless it is bad, or cut by the end of the piece.
  RawPacket next() {
    const RawPacket raw = parser_.next();
    return raw.kind == RawKind::cut ? next_across() : raw;
  }
  // Returns the offset of the next packet in the piece.
  [[nodiscard]] std::uint64_t offset() const { return offset_of(parser_.at()); }

  // The parser of the chunk that the next packet is in. A caller may read on with a copy of it as
  // far as the chunk reaches, and set it here.
  [[nodiscard]] const PacketParser& in_chunk() const { return parser_; }
  void set(const PacketParser& in_chunk) { parser_ = in_chunk; }
  [[nodiscard]] std::uint64_t offset_of(const std::uint8_t* at) const {
    return chunk_offset_ + static_cast<std::uint64_t>(at - chunk_begin_);
  }

  // Moves to the next PSB after the byte here. Returns false, at the end, where there is none.
  bool skip_to_psb();
  void skip_to_end();
  // Returns the offset of the first PSB at or after `from`.
  [[nodiscard]] std::optional<std::uint64_t> find_psb(std::uint64_t from) const;

private:
  RawPacket next_across();
  void enter(std::size_t chunk, std::uint64_t chunk_offset);
  void move_to(std::uint64_t offset);
  [[nodiscard]] std::size_t copy(std::uint64_t offset, std::span<std::uint8_t> out) const;

  Chunks chunks_;
  std::size_t chunk_ = 0;
  std::uint64_t chunk_offset_ = 0; // offset of its first byte in the piece
  const std::uint8_t* chunk_begin_ = nullptr;
  PacketParser parser_{nullptr, nullptr};
};

} // namespace ptlens::flow
