// A segment is decoded when the bytes behind it that its decoder looks at have been written, too,
// and the kernel has announced them.
#include "flow/segments/decoded_ahead.hpp"

#include "base/checksum.hpp"
#include "flow/packets/piece_parser.hpp"

#include <algorithm>

namespace ptlens::flow {
namespace {

// Behind the PSB at the end of a segment come the packets of a PSB+, and the next timing packet.
// Where a decoder reads on, its result is dropped.
constexpr std::uint64_t margin = 4096;

// Calls `take` with the bytes of the piece in [begin, end).
void each_part(const TracePiece& piece, std::uint64_t begin, std::uint64_t end,
               const std::function<void(std::span<const std::byte>)>& take) {
  std::uint64_t at = 0;
  for (const std::span<const std::byte> part : piece.trace) {
    const std::uint64_t first = std::clamp(begin, at, at + part.size());
    const std::uint64_t last = std::clamp(end, at, at + part.size());
    take(part.subspan(first - at, last - first));
    at += part.size();
  }
}

std::uint64_t checksum_of(const TracePiece& piece, std::uint64_t begin, std::uint64_t end) {
  RunningChecksum sum;
  each_part(piece, begin, end, [&sum](std::span<const std::byte> part) { sum.add(part); });
  return sum.value();
}

// Returns the announcements that place() may use for packets in [begin, end), cut at `end`.
std::vector<Announcement> announced(const TracePiece& piece, std::uint64_t begin,
                                    std::uint64_t end) {
  std::vector<Announcement> found;
  for (const Announcement& each : piece.announcements) {
    if (each.end >= begin) {
      found.push_back({std::min(each.end, end), each.time_ns});
    }
    if (each.end >= end) {
      break;
    }
  }
  return found;
}

// Returns the offset up to which the piece cannot change.
std::uint64_t certain(const TracePiece& piece) {
  const bool announces = !piece.announcements.empty();
  return announces ? std::min(piece.size, piece.announcements.back().end) : piece.size;
}

std::uint64_t memory_of(const Run& run) {
  constexpr std::uint64_t consumed_bytes = 80; // of each entry, with its share of the system calls
  return sizeof(Run) + run.branches.capacity() * sizeof(Branch) +
         (run.consumed ? run.consumed->size() * consumed_bytes : 0);
}

} // namespace

void DecodedAhead::decode(RecordingSoFar so_far, std::uint64_t segment_bytes, const More& more) {
  so_far_.push_back(std::move(so_far));
  RecordingSoFar& now = so_far_.back();
  const auto buffers = now.recording->aux_buffers();
  for (const perfdata::AuxBuffer& buffer : buffers) {
    now.pieces.push_back(trace_pieces(*now.recording, buffer));
  }
  // One segment of each buffer in turn, as they will be needed.
  for (bool decoded = true; decoded;) {
    decoded = false;
    for (std::size_t at = 0; at < buffers.size(); ++at) {
      for (const TracePiece& piece : now.pieces[at]) {
        if (!more()) {
          return;
        }
        if (decode_next(buffers[at], piece, *now.context, segment_bytes)) {
          decoded = true;
          break;
        }
      }
    }
  }
}

// Returns false where the next segment of the piece is not complete.
bool DecodedAhead::decode_next(const perfdata::AuxBuffer& buffer, const TracePiece& piece,
                               DecodeContext& context, std::uint64_t segment_bytes) {
  const Place place{buffer.index, piece.aux_offset};
  std::uint64_t& begin = reached_[place];
  const std::uint64_t limit = certain(piece);
  const std::uint64_t least = begin + segment_bytes;
  if (least + margin > limit) {
    return false;
  }
  const auto end = PieceParser(piece.trace, least).find_psb(least);
  if (!end || *end + margin > limit) {
    return false;
  }
  Segment segment;
  segment.begin = begin;
  segment.end = *end;
  segment.piece = &piece;
  segment.context = &context;
  context.forget_questions();
  segment.decoder =
      std::make_unique<PieceDecoder>(context, buffer, piece, PieceDecoder::Stretch{begin, *end});
  while (auto run = segment.decoder->next()) {
    memory_ += memory_of(*run);
    segment.runs.push_back(std::move(*run));
  }
  begin = *end;
  bytes_done_ += segment.end - segment.begin;
  segment.read_until = segment.decoder->read_until();
  segment.latest_ns = context.latest_question_ns();
  if (segment.decoder->paused_at() && segment.read_until < limit) {
    segment.checksum = checksum_of(piece, segment.begin, segment.read_until);
    each_part(piece, segment.begin, segment.end,
              [&context](std::span<const std::byte> part) { context.forget(part); });
    segments_.insert_or_assign({place, segment.begin}, std::move(segment));
  }
  return true;
}

std::unique_ptr<DecodedAhead::Segment> DecodedAhead::take(const DecodeContext& context,
                                                          const perfdata::AuxBuffer& buffer,
                                                          const TracePiece& piece,
                                                          std::uint64_t begin, std::uint64_t end) {
  auto found = segments_.extract({Place{buffer.index, piece.aux_offset}, begin});
  if (found.empty()) {
    return nullptr;
  }
  Segment& segment = found.mapped();
  const auto [agreed, added] = agreed_.try_emplace({segment.context, buffer.index});
  if (added) {
    agreed->second = segment.context->agrees_before(context, buffer);
  }
  const std::uint64_t until = segment.read_until;
  const bool same = segment.end == end && until < piece.size &&
                    segment.piece->truncated == piece.truncated &&
                    segment.latest_ns < agreed->second &&
                    announced(*segment.piece, begin, until) == announced(piece, begin, until) &&
                    checksum_of(piece, begin, until) == segment.checksum;
  if (!same) {
    return nullptr;
  }
  bytes_used_ += end - begin;
  return std::make_unique<Segment>(std::move(segment));
}

} // namespace ptlens::flow
