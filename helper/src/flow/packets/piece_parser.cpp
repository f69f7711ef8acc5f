// Reads packets across the boundary between two chunks.
#include "flow/packets/piece_parser.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ptlens::flow {
namespace {

constexpr std::array<std::uint8_t, 16> psb = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                              0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};
constexpr std::size_t longest_packet = 16; // bytes

const std::uint8_t* bytes_of(std::span<const std::byte> chunk) {
  return reinterpret_cast<const std::uint8_t*>(chunk.data());
}

} // namespace

PieceParser::PieceParser(Chunks chunks, std::uint64_t start) : chunks_(chunks) {
  enter(0, 0);
  move_to(start);
}

void PieceParser::enter(std::size_t chunk, std::uint64_t chunk_offset) {
  chunk_ = chunk;
  chunk_offset_ = chunk_offset;
  const std::span<const std::byte> bytes =
      chunk < chunks_.size() ? chunks_[chunk] : std::span<const std::byte>{};
  chunk_begin_ = bytes_of(bytes);
  parser_ = PacketParser(chunk_begin_, chunk_begin_ + bytes.size());
}

// Moves forward.
void PieceParser::move_to(std::uint64_t offset) {
  while (chunk_ + 1 < chunks_.size() && offset - chunk_offset_ >= chunks_[chunk_].size()) {
    enter(chunk_ + 1, chunk_offset_ + chunks_[chunk_].size());
  }
  const std::uint64_t size = chunk_ < chunks_.size() ? chunks_[chunk_].size() : 0;
  parser_.move_to(chunk_begin_ + std::min(offset - chunk_offset_, size));
}

std::size_t PieceParser::copy(std::uint64_t offset, std::span<std::uint8_t> out) const {
  std::size_t copied = 0;
  std::uint64_t begin = chunk_offset_;
  for (std::size_t chunk = chunk_; chunk < chunks_.size() && copied < out.size(); ++chunk) {
    const std::uint64_t size = chunks_[chunk].size();
    const std::uint64_t at = offset + copied;
    if (at < begin + size) {
      const std::size_t count =
          std::min<std::size_t>(out.size() - copied, static_cast<std::size_t>(begin + size - at));
      std::memcpy(out.data() + copied, chunks_[chunk].data() + (at - begin), count);
      copied += count;
    }
    begin += size;
  }
  return copied;
}

RawPacket PieceParser::next_across() {
  if (chunk_ + 1 >= chunks_.size()) {
    return {.kind = RawKind::cut};
  }
  std::array<std::uint8_t, longest_packet> seam;
  const std::size_t size = copy(offset(), seam);
  PacketParser parser(seam.data(), seam.data() + size);
  const RawPacket raw = parser.next();
  if (raw.kind != RawKind::cut && raw.kind != RawKind::bad) {
    move_to(offset() + raw.size);
  }
  return raw;
}

void PieceParser::skip_to_end() {
  while (chunk_ + 1 < chunks_.size()) {
    enter(chunk_ + 1, chunk_offset_ + chunks_[chunk_].size());
  }
  move_to(chunk_offset_ + (chunk_ < chunks_.size() ? chunks_[chunk_].size() : 0));
}

bool PieceParser::skip_to_psb() {
  const auto found = find_psb(offset() + 1);
  if (found) {
    move_to(*found);
  } else {
    skip_to_end();
  }
  return found.has_value();
}

std::optional<std::uint64_t> PieceParser::find_psb(std::uint64_t from) const {
  constexpr std::size_t overlap = psb.size() - 1;
  std::uint64_t begin = chunk_offset_;
  for (std::size_t chunk = chunk_; chunk < chunks_.size(); ++chunk) {
    const std::uint64_t end = begin + chunks_[chunk].size();
    if (from < end) {
      const std::uint8_t* const first = bytes_of(chunks_[chunk]);
      const std::uint8_t* const at = first + (std::max(from, begin) - begin);
      const auto left = static_cast<std::size_t>(first + chunks_[chunk].size() - at);
      if (const void* found = memmem(at, left, psb.data(), psb.size())) {
        return begin + static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(found) - first);
      }
      std::array<std::uint8_t, 2 * overlap> seam;
      const std::uint64_t seam_begin = std::max(from, end - std::min<std::uint64_t>(overlap, end));
      const std::size_t size = copy(
          seam_begin, std::span(seam).first(static_cast<std::size_t>(end - seam_begin) + overlap));
      const auto across = std::search(
          seam.begin(), seam.begin() + static_cast<std::ptrdiff_t>(size), psb.begin(), psb.end());
      if (across != seam.begin() + static_cast<std::ptrdiff_t>(size)) {
        return seam_begin + static_cast<std::uint64_t>(across - seam.begin());
      }
    }
    begin = end;
  }
  return std::nullopt;
}

} // namespace ptlens::flow
