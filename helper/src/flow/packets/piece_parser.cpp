// Reads packets across the boundary between two spans.
#include "flow/packets/piece_parser.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ptlens::flow {
namespace {

constexpr std::array<std::uint8_t, 16> psb = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                              0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};
constexpr std::size_t longest_packet = 16; // bytes

const std::uint8_t* bytes_of(std::span<const std::byte> part) {
  return reinterpret_cast<const std::uint8_t*>(part.data());
}

} // namespace

PieceParser::PieceParser(Parts parts, std::uint64_t start) : parts_(parts) {
  enter(0, 0);
  move_to(start);
}

void PieceParser::enter(std::size_t part, std::uint64_t part_offset) {
  part_ = part;
  part_offset_ = part_offset;
  const std::span<const std::byte> bytes =
      part < parts_.size() ? parts_[part] : std::span<const std::byte>{};
  part_begin_ = bytes_of(bytes);
  parser_ = PacketParser(part_begin_, part_begin_ + bytes.size());
}

// Moves forward.
void PieceParser::move_to(std::uint64_t offset) {
  while (part_ + 1 < parts_.size() && offset - part_offset_ >= parts_[part_].size()) {
    enter(part_ + 1, part_offset_ + parts_[part_].size());
  }
  const std::uint64_t size = part_ < parts_.size() ? parts_[part_].size() : 0;
  parser_.move_to(part_begin_ + std::min(offset - part_offset_, size));
}

std::size_t PieceParser::copy(std::uint64_t offset, std::span<std::uint8_t> out) const {
  std::size_t copied = 0;
  std::uint64_t begin = part_offset_;
  for (std::size_t part = part_; part < parts_.size() && copied < out.size(); ++part) {
    const std::uint64_t size = parts_[part].size();
    const std::uint64_t at = offset + copied;
    if (at < begin + size) {
      const std::size_t count =
          std::min<std::size_t>(out.size() - copied, static_cast<std::size_t>(begin + size - at));
      std::memcpy(out.data() + copied, parts_[part].data() + (at - begin), count);
      copied += count;
    }
    begin += size;
  }
  return copied;
}

RawPacket PieceParser::next_across() {
  if (part_ + 1 >= parts_.size()) {
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
  while (part_ + 1 < parts_.size()) {
    enter(part_ + 1, part_offset_ + parts_[part_].size());
  }
  move_to(part_offset_ + (part_ < parts_.size() ? parts_[part_].size() : 0));
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
  std::uint64_t begin = part_offset_;
  for (std::size_t part = part_; part < parts_.size(); ++part) {
    const std::uint64_t end = begin + parts_[part].size();
    if (from < end) {
      const std::uint8_t* const first = bytes_of(parts_[part]);
      const std::uint8_t* const at = first + (std::max(from, begin) - begin);
      const auto left = static_cast<std::size_t>(first + parts_[part].size() - at);
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
