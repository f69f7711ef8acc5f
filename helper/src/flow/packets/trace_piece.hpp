// Cuts AUX buffers into pieces that a decoder can follow without a break.
#pragma once

#include "perfdata/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::flow {

// An AUX record, by which the kernel announced trace.
struct Announcement {
  std::uint64_t end = 0;     // after the last byte, in the piece
  std::uint64_t time_ns = 0; // perf's clock: the bytes before `end` are older

  bool operator==(const Announcement&) const = default;
};

struct TracePiece {
  std::vector<std::span<const std::byte>> trace; // in order
  std::uint64_t aux_offset = 0;                  // of its first byte in the buffer's stream
  std::uint64_t size = 0;                        // bytes
  bool truncated = false;                        // something was lost after it
  std::vector<Announcement> announcements;       // by end; none in snapshot mode
};

// Returns the pieces. A new piece begins where an AUX record reports that the buffer was full,
// where the byte stream has a hole, and in snapshot mode with every chunk. The spans belong to the
// recording.
[[nodiscard]] std::vector<TracePiece> trace_pieces(const perfdata::Recording& recording,
                                                   const perfdata::AuxBuffer& buffer);

// A contiguous copy of the bytes of a piece, followed by zeros: libipt may read past an unfinished
// PSB at the end.
class PieceBytes {
public:
  explicit PieceBytes(const TracePiece& piece);

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
  // Not const for libipt, which does not write to the bytes either.
  [[nodiscard]] std::uint8_t* begin() { return bytes_.data(); }
  [[nodiscard]] std::uint8_t* end() { return bytes_.data() + size_; }

private:
  std::size_t size_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace ptlens::flow
