// Segments of trace that were decoded before the recording was complete, each with what its result
// depends on. A segment is used where the complete recording has the same bytes, and answers every
// question about them as the recording did so far.
#pragma once

#include "flow/decode/decode_context.hpp"
#include "flow/decode/piece_decoder.hpp"
#include "flow/packets/trace_piece.hpp"
#include "flow/runs/run.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace ptlens::flow {

// The beginning of a recording, as far as perf had written it.
struct RecordingSoFar {
  std::shared_ptr<const void> owner; // of the recording, and of all that the context refers to
  const perfdata::Recording* recording = nullptr;
  std::unique_ptr<DecodeContext> context;
  std::deque<std::vector<TracePiece>> pieces = {}; // of each buffer
};

class DecodedAhead {
public:
  struct Segment {
    std::uint64_t begin = 0; // in the piece
    std::uint64_t end = 0;
    std::uint64_t read_until = 0; // the bytes that were looked at
    std::uint64_t checksum = 0;   // of them
    std::uint64_t latest_ns = 0;  // time about which the context was asked
    const TracePiece* piece = nullptr;
    const DecodeContext* context = nullptr;
    std::unique_ptr<PieceDecoder> decoder; // pauses at the end
    std::deque<Run> runs;
  };
  // `more` is called before each segment; decoding ends where it returns false.
  using More = std::function<bool()>;

  // Decodes the segments that are complete and were not decoded yet. The cuts are those of a
  // SegmentedDecoder with the same size of segments.
  void decode(RecordingSoFar so_far, std::uint64_t segment_bytes, const More& more);

  // Returns the segment, if it was decoded, and its result is that of the complete recording;
  // nullptr otherwise. It must not outlive this object. For one thread.
  [[nodiscard]] std::unique_ptr<Segment> take(const DecodeContext& context,
                                              const perfdata::AuxBuffer& buffer,
                                              const TracePiece& piece, std::uint64_t begin,
                                              std::uint64_t end);

  // Returns whether branches of the workers of a source and those decoded here have other
  // numberings.
  [[nodiscard]] bool leaves_numberings(unsigned workers) const {
    return std::ranges::all_of(so_far_, [workers](const RecordingSoFar& each) {
      return each.context->numbering() >= workers;
    });
  }

  // Returns the number of trace bytes up to the last segment of each piece.
  [[nodiscard]] std::uint64_t bytes_done() const { return bytes_done_; }
  // Returns the number of trace bytes in the segments that were used.
  [[nodiscard]] std::uint64_t bytes_used() const { return bytes_used_; }
  // Returns the approximate size of the results in memory, bytes.
  [[nodiscard]] std::uint64_t memory() const { return memory_; }

private:
  struct Place { // of a piece
    std::uint32_t buffer = 0;
    std::uint64_t offset = 0; // in the stream of the buffer
    auto operator<=>(const Place&) const = default;
  };

  bool decode_next(const perfdata::AuxBuffer& buffer, const TracePiece& piece,
                   DecodeContext& context, std::uint64_t segment_bytes);

  std::vector<RecordingSoFar> so_far_; // outlives the segments
  std::map<Place, std::uint64_t> reached_;
  std::map<std::pair<Place, std::uint64_t>, Segment> segments_;                    // by begin
  std::map<std::pair<const DecodeContext*, std::uint32_t>, std::uint64_t> agreed_; // by buffer
  std::uint64_t bytes_done_ = 0;
  std::uint64_t bytes_used_ = 0;
  std::uint64_t memory_ = 0;
};

} // namespace ptlens::flow
