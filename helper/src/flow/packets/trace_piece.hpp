// AUX buffers cut into pieces, each of which a decoder can follow without a break.
#pragma once

#include "perfdata/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ptlens::flow {

// An AUX record: the kernel announced trace that was there.
struct Announcement {
  std::uint64_t end = 0;     // behind the last byte, in the piece
  std::uint64_t time_ns = 0; // perf's clock: the bytes before `end` are older
};

struct TracePiece {
  std::vector<std::span<const std::byte>> trace; // in order
  std::uint64_t aux_offset = 0;                  // of its first byte in the buffer's stream
  std::uint64_t size = 0;                        // bytes
  bool truncated = false;                        // something was lost after it
  std::vector<Announcement> announcements;       // by end; none in snapshot mode
};

// A new piece begins where an AUX record says that the buffer was full, where the byte stream has a
// hole, and in snapshot mode with every chunk. The spans are the recording's.
[[nodiscard]] std::vector<TracePiece> trace_pieces(const perfdata::Recording& recording,
                                                   const perfdata::AuxBuffer& buffer);

// The bytes of a piece in one place, followed by zeros: libipt may read past an unfinished PSB at
// the end.
class PieceBytes {
public:
  explicit PieceBytes(const TracePiece& piece);

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
  // For libipt, which does not write to them either.
  [[nodiscard]] std::uint8_t* begin() { return bytes_.data(); }
  [[nodiscard]] std::uint8_t* end() { return bytes_.data() + size_; }

private:
  std::size_t size_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace ptlens::flow
