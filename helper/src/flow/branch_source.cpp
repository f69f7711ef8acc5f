// AUX buffers to unbroken pieces, and a merge of their runs by time.
#include "flow/branch_source.hpp"

#include <algorithm>

namespace ptlens::flow {

BranchSource::BranchSource(const perfdata::Recording& recording, DecodeContext& context)
    : context_(&context) {
  for (const perfdata::AuxBuffer& buffer : recording.aux_buffers()) {
    Lane lane;
    lane.buffer = &buffer;
    lane.pieces = split(recording, buffer);
    lanes_.push_back(std::move(lane));
  }
  for (Lane& lane : lanes_) {
    advance(lane);
  }
}

BranchSource::~BranchSource() = default;

// A new piece begins where an AUX record says that the buffer was full, where the byte stream has a
// hole, and in snapshot mode with every chunk.
std::vector<BranchSource::Piece> BranchSource::split(const perfdata::Recording& recording,
                                                     const perfdata::AuxBuffer& buffer) {
  std::vector<std::uint64_t> cuts;
  bool overwrite = recording.intel_pt() && recording.intel_pt()->snapshot_mode;
  for (const perfdata::AuxWrite& write : recording.aux_writes()) {
    const bool ours = buffer.cpu >= 0 ? write.cpu == buffer.cpu : write.tid == buffer.tid;
    if (ours && write.truncated) {
      cuts.push_back(write.offset + write.size);
    }
    overwrite = overwrite || (ours && write.overwrite);
  }
  std::ranges::sort(cuts);

  std::vector<Piece> pieces;
  Piece piece;
  std::uint64_t position = 0;
  const auto close = [&](bool truncated) {
    if (piece.size != 0) {
      piece.truncated = truncated;
      pieces.push_back(std::move(piece));
    }
    piece = Piece{};
  };
  for (const perfdata::AuxChunk& chunk : buffer.chunks) {
    if (piece.size != 0 && (overwrite || chunk.aux_offset != position)) {
      close(true);
    }
    auto bytes = recording.bytes(chunk);
    position = chunk.aux_offset;
    while (!bytes.empty()) {
      const auto cut = std::ranges::upper_bound(cuts, position);
      const std::uint64_t room = cut == cuts.end() ? bytes.size() : *cut - position;
      const auto part = bytes.first(std::min<std::uint64_t>(room, bytes.size()));
      piece.trace.push_back(part);
      piece.size += part.size();
      position += part.size();
      bytes = bytes.subspan(part.size());
      if (cut != cuts.end() && position == *cut) {
        close(true);
      }
    }
  }
  close(false);
  return pieces;
}

void BranchSource::advance(Lane& lane) {
  for (;;) {
    if (lane.decoder) {
      lane.head = lane.decoder->next();
      if (lane.head) {
        return;
      }
      lane.decoder->summarise(summary_);
      const auto& widths = lane.decoder->widths();
      widths_.insert(widths_.end(), widths.begin(), widths.end());
      bytes_done_ += lane.pieces[lane.next_piece - 1].size;
      lane.decoder.reset();
    }
    if (lane.next_piece == lane.pieces.size()) {
      lane.head.reset();
      return;
    }
    Piece& piece = lane.pieces[lane.next_piece++];
    lane.decoder = std::make_unique<PieceDecoder>(*context_, *lane.buffer, std::move(piece.trace),
                                                  piece.truncated);
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
  if (!widths_.empty()) {
    std::vector<std::uint64_t> widths = widths_;
    const auto rank = widths.begin() + static_cast<std::ptrdiff_t>((widths.size() - 1) * 19 / 20);
    std::ranges::nth_element(widths, rank);
    summary.resolution_ns = *rank;
  }
  return summary;
}

} // namespace ptlens::flow
