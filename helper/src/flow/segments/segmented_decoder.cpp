// Takes segments in order. Each one is compared with the state in which the previous one ended.
#include "flow/segments/segmented_decoder.hpp"

#include "flow/packets/piece_parser.hpp"
#include "flow/reference/libipt_decoder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ptlens::flow {
namespace {

constexpr std::uint64_t no_end = std::numeric_limits<std::uint64_t>::max();

} // namespace

SegmentedDecoder::SegmentedDecoder(DecodeContext& context, DecodeWorkers* workers,
                                   const perfdata::AuxBuffer& buffer, const TracePiece& piece,
                                   const DecodeOptions& options, std::size_t ahead)
    : context_(&context), workers_(workers), buffer_(&buffer), piece_(&piece), options_(options),
      ahead_(ahead) {
  if (options_.decoder == Decoder::libipt) {
    workers_ = nullptr;
  }
  give_to_workers();
}

SegmentedDecoder::~SegmentedDecoder() {
  drop_coming();
}

void SegmentedDecoder::drop_coming() {
  for (const auto& segment : coming_) {
    drop(*segment);
  }
  coming_.clear();
  next_begin_.reset();
}

// Returns the segment after coming_, null where there is none.
std::unique_ptr<SegmentedDecoder::Segment> SegmentedDecoder::take_segment() {
  if (!next_begin_) {
    return nullptr;
  }
  auto segment = std::make_unique<Segment>();
  segment->begin = *next_begin_;
  next_begin_.reset();
  if (options_.decoder == Decoder::graph) {
    const std::uint64_t least = segment->begin + options_.segment_bytes;
    if (least < piece_->size) {
      next_begin_ = PieceParser(piece_->trace, least).find_psb(least);
    }
  }
  segment->end = next_begin_.value_or(no_end);
  return segment;
}

void SegmentedDecoder::give_to_workers() {
  const std::size_t wanted = workers_ == nullptr ? 1 : ahead_;
  while (coming_.size() < wanted) {
    auto segment = take_segment();
    if (!segment) {
      return;
    }
    auto ahead = options_.ahead == nullptr ? nullptr
                                           : options_.ahead->take(*context_, *buffer_, *piece_,
                                                                  segment->begin, segment->end);
    if (ahead != nullptr) {
      segment->decoder = std::move(ahead->decoder);
      segment->runs = std::move(ahead->runs);
      segment->ahead = true;
    } else if (workers_ != nullptr) {
      segment->task = workers_->submit([this, &segment = *segment](DecodeContext& context) {
        segment.decoder = std::make_unique<PieceDecoder>(
            context, *buffer_, *piece_, PieceDecoder::Stretch{segment.begin, segment.end});
        while (auto run = segment.decoder->next()) {
          segment.runs.push_back(std::move(*run));
        }
      });
    }
    coming_.push_back(std::move(segment));
  }
}

// Decodes the segment: at least its first PSB+, or all of it where a worker does.
void SegmentedDecoder::ready(Segment& segment) {
  if (segment.ahead) {
    return;
  }
  if (segment.task) {
    workers_->finish(segment.task, *context_);
  } else if (options_.decoder == Decoder::libipt) {
    segment.decoder = std::make_unique<LibiptDecoder>(*context_, *buffer_, *piece_);
  } else {
    segment.decoder = std::make_unique<PieceDecoder>(
        *context_, *buffer_, *piece_, PieceDecoder::Stretch{segment.begin, segment.end});
    segment.decoder->prime();
  }
}

void SegmentedDecoder::drop(Segment& segment) {
  if (segment.task) {
    workers_->drop(segment.task);
  }
}

void SegmentedDecoder::retire() {
  current_->decoder->summarise(summary_);
  intervals_.add(current_->decoder->intervals());
}

// Brings a decoder of the complete recording to the place where the current one pauses, which was
// made for the beginning of the recording and can read no further.
void SegmentedDecoder::decode_again() {
  auto decoder = std::make_unique<PieceDecoder>(
      *context_, *buffer_, *piece_, PieceDecoder::Stretch{current_->begin, current_->end});
  decoder->prime();
  if (last_ != nullptr) {
    static_cast<void>(decoder->follow(*last_->decoder));
  }
  while (decoder->next()) {
  }
  current_->decoder = std::move(decoder);
  current_->ahead = false;
  last_.reset();
}

// Gives back the memory of the trace before that offset of the piece.
void SegmentedDecoder::forget(std::uint64_t until) {
  constexpr std::uint64_t least = std::uint64_t{1} << 20U; // a system call costs some microseconds
  if (until < forgotten_ + least) {
    return;
  }
  while (forgotten_ < until && forgotten_spans_ < piece_->trace.size()) {
    const auto span = piece_->trace[forgotten_spans_].subspan(forgotten_of_span_);
    const std::uint64_t count = std::min<std::uint64_t>(span.size(), until - forgotten_);
    context_->forget(span.first(count));
    forgotten_ += count;
    forgotten_of_span_ += count;
    if (count == span.size()) {
      ++forgotten_spans_;
      forgotten_of_span_ = 0;
    }
  }
}

// Continues after the current decoder has paused at a PSB, where the next segment may begin.
void SegmentedDecoder::advance(std::uint64_t psb_offset) {
  forget(psb_offset);
  while (!coming_.empty() && coming_.front()->begin < psb_offset) {
    drop(*coming_.front());
    coming_.pop_front();
    ++summary_.segments_again;
    give_to_workers();
  }
  if (!coming_.empty() && coming_.front()->begin == psb_offset) {
    std::unique_ptr<Segment> next = std::move(coming_.front());
    coming_.pop_front();
    give_to_workers();
    ready(*next);
    if (current_->decoder->leads_to(*next->decoder)) {
      drop_on_ = next->decoder->follow(*current_->decoder);
      if (const auto held = current_->decoder->held()) {
        held_ = held;
      }
      retire();
      ++summary_.segments;
      last_ = next->ahead ? std::move(current_) : nullptr;
      current_ = std::move(next);
      return;
    }
    ++summary_.segments_again;
  }
  if (current_->ahead) {
    decode_again();
  }
  current_->decoder->go_on(*context_, coming_.empty() ? no_end : coming_.front()->begin);
}

// Corrects the first run of a segment that continues from the previous segment.
void SegmentedDecoder::fix_first(Run& run) {
  if (drop_on_) {
    std::erase_if(run.marks, [](const SyncMark& mark) { return mark.branches == 0; });
    if (run.branches.empty()) {
      return; // the run has nothing but the mark
    }
    drop_on_ = false;
    run.branches.erase(run.branches.begin());
    run.shift_branches(-1);
  }
  if (!held_ || run.empty()) {
    return;
  }
  if (run.begins_with_branch() && is_break(run.branches.front().kind)) {
    held_->from_id = BranchPointId::none; // the ids may be of another numbering
    held_->to_id = BranchPointId::none;
    run.branches.insert(run.branches.begin(), *held_);
    run.shift_branches(1);
  }
  held_.reset();
}

std::optional<Run> SegmentedDecoder::next() {
  if (!current_) {
    if (coming_.empty()) {
      return std::nullopt;
    }
    current_ = std::move(coming_.front());
    coming_.pop_front();
    give_to_workers();
    ready(*current_);
    ++summary_.segments;
  }
  for (;;) {
    std::optional<Run> run;
    if (!current_->runs.empty()) {
      run = std::move(current_->runs.front());
      current_->runs.pop_front();
    } else {
      run = current_->decoder->next();
    }
    if (run) {
      fix_first(*run);
      return run;
    }
    const auto paused_at = current_->decoder->paused_at();
    if (!paused_at) {
      retire();
      drop_coming();
      current_.reset();
      return std::nullopt;
    }
    advance(*paused_at);
  }
}

void SegmentedDecoder::summarise(DecodeSummary& summary) const {
  summary.add(summary_);
}

} // namespace ptlens::flow
