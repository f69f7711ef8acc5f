// Decodes one piece of trace in segments, each from one PSB to another, in several threads.
//
// Packets after a PSB+ do not depend on earlier packets, so that decoding can begin there. Each
// segment is decoded up to the address that the next PSB+ states, as if nothing had come before.
// Its result is used where the decoder of the previous segment has come to the same address in the
// same state; otherwise that decoder continues through the segment. The cuts depend on the trace
// alone, so that the result is the same with any number of workers.
#pragma once

#include "flow/decode/decode_context.hpp"
#include "flow/decode/decode_summary.hpp"
#include "flow/decode/piece_decoder.hpp"
#include "flow/packets/trace_piece.hpp"
#include "flow/runs/run.hpp"
#include "flow/segments/decode_workers.hpp"
#include "flow/segments/decoded_ahead.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::flow {

enum class Decoder : std::uint8_t {
  graph,  // our own, PieceDecoder
  libipt, // libipt's instruction decoder, in one segment
};

struct DecodeOptions {
  Decoder decoder = Decoder::graph;
  unsigned workers = 1;                      // threads, including the caller's
  std::uint64_t segment_bytes = 256U << 10U; // the least size of a segment
  // The approximate limit for decoded branches that wait; segments are smaller where there are many
  // buffers.
  std::uint64_t memory_bytes = 256U << 20U;
  DecodedAhead* ahead = nullptr; // segments that were decoded while the recording was written
};

class SegmentedDecoder {
public:
  // `workers` may be null: the caller's thread does all work. At most `ahead` segments are decoded
  // before they are needed. The references must outlive the decoder.
  SegmentedDecoder(DecodeContext& context, DecodeWorkers* workers,
                   const perfdata::AuxBuffer& buffer, const TracePiece& piece,
                   const DecodeOptions& options, std::size_t ahead);
  SegmentedDecoder(const SegmentedDecoder&) = delete;
  SegmentedDecoder& operator=(const SegmentedDecoder&) = delete;
  SegmentedDecoder(SegmentedDecoder&&) = delete;
  SegmentedDecoder& operator=(SegmentedDecoder&&) = delete;
  ~SegmentedDecoder();

  // Returns the next run, nullopt at the end; see PieceDecoder.
  std::optional<Run> next();

  // Adds the statistics of the piece. To be called after the last run.
  void summarise(DecodeSummary& summary) const;
  [[nodiscard]] const UncertaintyCounts& intervals() const { return intervals_; }
  // Returns the offset in the piece of the segment that the last run came from.
  [[nodiscard]] std::uint64_t offset() const { return current_ ? current_->begin : 0; }

private:
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::unique_ptr<PieceDecoder> decoder;
    std::deque<Run> runs;       // from a worker
    DecodeWorkers::Handle task; // null where no worker decodes the segment
    bool ahead = false;         // decoded before the recording was complete
  };

  [[nodiscard]] std::unique_ptr<Segment> take_segment();
  void give_to_workers();
  void ready(Segment& segment);
  void drop(Segment& segment);
  void drop_coming();
  void advance(std::uint64_t psb_offset);
  void retire();
  void decode_again();
  void fix_first(Run& run);
  void forget(std::uint64_t until);

  DecodeContext* context_;
  DecodeWorkers* workers_;
  const perfdata::AuxBuffer* buffer_;
  const TracePiece* piece_;
  DecodeOptions options_;
  std::size_t ahead_;
  std::optional<std::uint64_t> next_begin_ = 0; // of the segment after coming_
  std::deque<std::unique_ptr<Segment>> coming_;
  std::unique_ptr<Segment> current_;
  std::unique_ptr<Segment> last_; // before the current one, where that was decoded ahead
  // Bytes of the piece whose memory was given back: whole spans, and some bytes of the next one.
  std::uint64_t forgotten_ = 0;
  std::size_t forgotten_spans_ = 0;
  std::uint64_t forgotten_of_span_ = 0;
  bool drop_on_ = false;       // the first branch of the segment, `on`, is to be left out
  std::optional<Branch> held_; // to be emitted before the first branch, if that is a break
  DecodeSummary summary_;
  UncertaintyCounts intervals_;
};

} // namespace ptlens::flow
