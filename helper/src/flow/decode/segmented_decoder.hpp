// One piece of trace in segments, each from one PSB to another, by several threads at once.
//
// A PSB+ begins packets anew, so that decoding can begin there without what came before. Each
// segment is decoded up to the address that the PSB+ behind it states, as if nothing had come
// before; what it tells is taken where the decoder of the segment before has come to the same place
// in the same state, and else that decoder goes on through it. The cuts depend on the trace alone,
// so that any number of workers tells the same.
#pragma once

#include "flow/branches/branch.hpp"
#include "flow/branches/run.hpp"
#include "flow/decode/decode_context.hpp"
#include "flow/decode/decode_workers.hpp"
#include "flow/decode/piece_decoder.hpp"
#include "flow/packets/trace_piece.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace ptlens::flow {

enum class Decoder : std::uint8_t {
  graph,  // PieceDecoder
  libipt, // LibiptDecoder, in one segment
};

struct DecodeOptions {
  Decoder decoder = Decoder::graph;
  unsigned workers = 1;                      // threads, the caller's included
  std::uint64_t segment_bytes = 256U << 10U; // a segment has at least so many
  // Of what was decoded and waits, about; segments are smaller where there are many buffers.
  std::uint64_t memory_bytes = 256U << 20U;
};

class SegmentedDecoder {
public:
  // `workers` may be null: all is done by the caller. `ahead`: at most so many segments are decoded
  // before they are asked for. What is referred to must outlive the decoder.
  SegmentedDecoder(DecodeContext& context, DecodeWorkers* workers,
                   const perfdata::AuxBuffer& buffer, const TracePiece& piece,
                   const DecodeOptions& options, std::size_t ahead);
  SegmentedDecoder(const SegmentedDecoder&) = delete;
  SegmentedDecoder& operator=(const SegmentedDecoder&) = delete;
  SegmentedDecoder(SegmentedDecoder&&) = delete;
  SegmentedDecoder& operator=(SegmentedDecoder&&) = delete;
  ~SegmentedDecoder();

  // The next run; see PieceDecoder. Nothing at the end.
  std::optional<Run> next();

  // After the last run: adds what the piece was.
  void summarise(DecodeSummary& summary) const;
  [[nodiscard]] const UncertaintyCounts& widths() const { return widths_; }
  // How far the runs have come in the piece: the begin of their segment.
  [[nodiscard]] std::uint64_t offset() const { return current_ ? current_->begin : 0; }

private:
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::unique_ptr<PieceDecoder> decoder;
    std::deque<Run> runs;       // that a worker made
    DecodeWorkers::Handle task; // null: not given to a worker
  };

  [[nodiscard]] std::unique_ptr<Segment> take_segment();
  void give_to_workers();
  void ready(Segment& segment);
  void drop(Segment& segment);
  void drop_coming();
  void advance(std::uint64_t psb_offset);
  void retire();
  void fix_first(Run& run);
  void forget(std::uint64_t until);

  DecodeContext* context_;
  DecodeWorkers* workers_;
  const perfdata::AuxBuffer* buffer_;
  const TracePiece* piece_;
  DecodeOptions options_;
  std::size_t ahead_;
  std::optional<std::uint64_t> next_begin_ = 0; // of the segment behind those of coming_
  std::deque<std::unique_ptr<Segment>> coming_;
  std::unique_ptr<Segment> current_;
  // Bytes of the piece whose memory was given back: whole spans, and as much of the next.
  std::uint64_t forgotten_ = 0;
  std::size_t forgotten_spans_ = 0;
  std::uint64_t forgotten_of_span_ = 0;
  bool drop_on_ = false;       // of the first run
  std::optional<Branch> held_; // to be told before the first branch, if that is a break
  DecodeSummary summary_;
  UncertaintyCounts widths_;
};

} // namespace ptlens::flow
