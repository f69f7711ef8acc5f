// A merge of the runs of all buffers by time.
#include "flow/branch_source.hpp"

#include <algorithm>

namespace ptlens::flow {

BranchSource::BranchSource(const perfdata::Recording& recording, DecodeContext& context,
                           Decoder decoder)
    : context_(&context), decoder_(decoder) {
  for (const perfdata::AuxBuffer& buffer : recording.aux_buffers()) {
    Lane lane;
    lane.buffer = &buffer;
    lane.pieces = trace_pieces(recording, buffer);
    lanes_.push_back(std::move(lane));
  }
  for (Lane& lane : lanes_) {
    advance(lane);
  }
}

BranchSource::~BranchSource() = default;

void BranchSource::advance(Lane& lane) {
  for (;;) {
    if (lane.decoder) {
      lane.head = lane.decoder->next();
      if (lane.head && lane.head->branches.empty() && lane.head->instructions == 0) {
        continue; // marks alone
      }
      if (lane.head) {
        return;
      }
      lane.decoder->summarise(summary_);
      widths_.add(lane.decoder->widths());
      bytes_done_ += lane.pieces[lane.next_piece - 1].size;
      lane.decoder.reset();
    }
    if (lane.next_piece == lane.pieces.size()) {
      lane.head.reset();
      return;
    }
    const TracePiece& piece = lane.pieces[lane.next_piece++];
    lane.decoder = PieceDecoder::make(decoder_, *context_, *lane.buffer, piece);
  }
}

std::optional<Run> BranchSource::next() {
  const auto begin = [](const Run& run) {
    return run.branches.empty() ? 0 : run.branches.front().time_ns;
  };
  Lane* first = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.head && (first == nullptr || begin(*lane.head) < begin(*first->head))) {
      first = &lane;
    }
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  Run run = std::move(*first->head);
  advance(*first);
  return run;
}

DecodeSummary BranchSource::summary() const {
  DecodeSummary summary = summary_;
  summary.warnings = context_->warnings();
  summary.resolution_ns = widths_.of_nineteen_in_twenty();
  return summary;
}

} // namespace ptlens::flow
