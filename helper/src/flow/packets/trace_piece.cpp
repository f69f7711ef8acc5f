// Finds the breaks in the stream of a buffer.
#include "flow/packets/trace_piece.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace ptlens::flow {
namespace {

constexpr std::size_t tail_padding = 64;
constexpr std::uint64_t most_padding = 7; // that perf adds after the last chunk

// The time of each AUX record, ns, by the offset in the buffer's stream where the record ends.
using AnnouncedTimes = std::map<std::uint64_t, std::uint64_t>;

std::vector<Announcement> announcements_in(const AnnouncedTimes& announced,
                                           const TracePiece& piece) {
  std::vector<Announcement> found;
  const std::uint64_t end = piece.aux_offset + piece.size;
  auto write = announced.upper_bound(piece.aux_offset);
  for (; write != announced.end() && write->first < end; ++write) {
    found.push_back({write->first - piece.aux_offset, write->second});
  }
  if (write != announced.end()) {
    found.push_back({piece.size, write->second});
  } else if (!found.empty() && piece.size - found.back().end <= most_padding) {
    found.back().end = piece.size;
  }
  return found;
}

} // namespace

std::vector<TracePiece> trace_pieces(const perfdata::Recording& recording,
                                     const perfdata::AuxBuffer& buffer) {
  std::vector<std::uint64_t> cuts;
  AnnouncedTimes announced;
  bool overwrite = recording.intel_pt() && recording.intel_pt()->snapshot_mode;
  for (const perfdata::AuxWrite& write : recording.aux_writes()) {
    const bool ours = buffer.cpu >= 0 ? write.cpu == buffer.cpu : write.tid == buffer.tid;
    if (!ours) {
      continue;
    }
    if (write.truncated) {
      cuts.push_back(write.offset + write.size);
    }
    announced.emplace(write.offset + write.size, write.time_ns);
    overwrite = overwrite || write.overwrite;
  }
  std::ranges::sort(cuts);

  std::vector<TracePiece> pieces;
  TracePiece piece;
  std::uint64_t position = 0;
  const auto close = [&](bool truncated) {
    if (piece.size != 0) {
      piece.truncated = truncated;
      if (!overwrite) {
        piece.announcements = announcements_in(announced, piece);
      }
      pieces.push_back(std::move(piece));
    }
    piece = TracePiece{};
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
      if (piece.size == 0) {
        piece.aux_offset = position;
      }
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

PieceBytes::PieceBytes(const TracePiece& piece) : size_(piece.size) {
  bytes_.resize(size_ + tail_padding);
  std::uint8_t* at = bytes_.data();
  for (const auto& part : piece.trace) {
    std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
}

} // namespace ptlens::flow
