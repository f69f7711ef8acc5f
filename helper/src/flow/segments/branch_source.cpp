// Merges the runs of all buffers by time.
#include "flow/segments/branch_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptlens::flow {

BranchSource::BranchSource(const perfdata::Recording& recording, DecodeContext& context,
                           const MakeContext& make_context, const DecodeOptions& options)
    : context_(&context), options_(options) {
  if (options_.ahead != nullptr && !options_.ahead->leaves_numberings(options_.workers)) {
    options_.ahead = nullptr;
  }
  for (const perfdata::AuxBuffer& buffer : recording.aux_buffers()) {
    Lane lane;
    lane.buffer = &buffer;
    lane.pieces = trace_pieces(recording, buffer);
    lanes_.push_back(std::move(lane));
  }
  if (options_.workers > 1 && options_.decoder == Decoder::graph) {
    constexpr std::size_t ahead_of_a_worker = 2;
    constexpr std::uint64_t memory_a_byte = 40; // about one branch for each byte
    constexpr std::uint64_t least_segment = 4096;
    workers_ = std::make_unique<DecodeWorkers>(make_context, options_.workers - 1);
    ahead_ = std::max<std::size_t>(1, ahead_of_a_worker * options_.workers /
                                          std::max<std::size_t>(1, lanes_.size()));
    const std::uint64_t waiting = ahead_ * std::max<std::size_t>(1, lanes_.size());
    const std::uint64_t most = options_.memory_bytes / (waiting * memory_a_byte);
    options_.segment_bytes = std::min(options_.segment_bytes, std::max(most, least_segment));
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
      if (lane.head && lane.head->empty() && lane.head->instructions == 0) {
        continue; // it has nothing but marks
      }
      if (lane.head) {
        return;
      }
      lane.decoder->summarise(summary_);
      intervals_.add(lane.decoder->intervals());
      bytes_done_ += lane.pieces[lane.next_piece - 1].size;
      lane.decoder.reset();
    }
    if (lane.next_piece == lane.pieces.size()) {
      lane.head.reset();
      return;
    }
    const TracePiece& piece = lane.pieces[lane.next_piece++];
    lane.decoder = std::make_unique<SegmentedDecoder>(*context_, workers_.get(), *lane.buffer,
                                                      piece, options_, ahead_);
  }
}

std::optional<Run> BranchSource::next() {
  Lane* first = nullptr;
  std::uint64_t earliest = 0;
  for (Lane& lane : lanes_) {
    if (!lane.head) {
      continue;
    }
    const std::uint64_t begin = lane.head->empty() ? 0 : lane.head->first_ns();
    if (first == nullptr || begin < earliest) {
      first = &lane;
      earliest = begin;
    }
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  std::optional<Run> run = std::exchange(first->head, std::nullopt);
  advance(*first);
  return run;
}

std::uint64_t BranchSource::bytes_done() const {
  std::uint64_t bytes = bytes_done_;
  for (const Lane& lane : lanes_) {
    bytes += lane.decoder ? lane.decoder->offset() : 0;
  }
  return bytes;
}

DecodeSummary BranchSource::summary() const {
  DecodeSummary summary = summary_;
  summary.warnings = context_->warnings();
  if (summary.uncertain_owners != 0) {
    summary.warnings.push_back(fmt::format(
        "tracing went on {} times between two timing packets between which another thread came to "
        "the CPU, so that some calls may be counted for the previous thread; to avoid this, record "
        "with cyc or with a smaller mtc_period",
        summary.uncertain_owners));
  }
  summary.uncertainty_ns = intervals_.of_nineteen_in_twenty();
  return summary;
}

} // namespace ptlens::flow
