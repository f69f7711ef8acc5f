// Chunks and their free lists.
#include "cache/writing/waiting_rows.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace ptlens::cache {

WaitingRows::Slab* WaitingRows::new_slab() {
  constexpr std::size_t least = 8;
  constexpr std::size_t most = 1024; // three large pages
  if (slabs_left_ == 0) {
    slabs_left_ = slabs_.empty() ? least : std::min(2 * slabs_.back().size(), most);
    slabs_.emplace_back(slabs_left_);
  }
  return &slabs_.back()[--slabs_left_];
}

std::uint32_t WaitingRows::take_free(unsigned length) {
  Pool& pool = pools_[length];
  if (pool.free == no_chunk) {
    const auto first = static_cast<std::uint32_t>(pool.next.size());
    const auto added = static_cast<std::uint32_t>(rows_per_slab / (shortest << length));
    pool.slabs.push_back(new_slab());
    for (std::uint32_t index = first; index < first + added; ++index) {
      const std::uint32_t next = (index + 1) << length_bits | length;
      pool.next.push_back(index + 1 < first + added ? next : no_chunk);
    }
    pool.free = first << length_bits | length;
  }
  const std::uint32_t chunk = pool.free;
  pool.free = std::exchange(next_of(chunk), no_chunk);
  used_ += rows_in(chunk);
  return chunk;
}

void WaitingRows::add_chunk(Lane& lane) {
  const bool is_first = lane.first == no_chunk;
  const std::uint32_t added =
      take_free(is_first ? 0 : std::min(length_of(lane.last) + 1, lengths - 1));
  (is_first ? lane.first : next_of(lane.last)) = added;
  lane.last = added;
  lane.next = rows(added);
  lane.room = rows_in(added);
}

void WaitingRows::add_wide(std::uint32_t lane, const stacks::ClosedCall& call, const Extra* extra) {
  wide_[lane].push_back({.start = call.start,
                         .latency = call.latency,
                         .children = call.children,
                         .uncertainty = call.uncertainty,
                         .has_extra = extra != nullptr,
                         .extra = extra != nullptr ? *extra : Extra{}});
}

void WaitingRows::read(std::uint32_t lane, std::vector<Row>& rows,
                       std::vector<Extra>& extras) const {
  const Lane& from = lanes_[lane];
  auto wide = wide_[lane].begin();
  std::uint32_t left = from.count;
  rows.reserve(rows.size() + left);
  for (std::uint32_t chunk = from.first; chunk != no_chunk; chunk = next_of(chunk)) {
    if (const std::uint32_t next = next_of(chunk); next != no_chunk) {
      prefetch_chunk(next);
    }
    const std::uint32_t count = std::min(left, rows_in(chunk));
    left -= count;
    for (const Slim& slim : std::span(this->rows(chunk), count)) {
      Row& row = rows.emplace_back(slim.row());
      if (slim.is_wide()) {
        row.start = wide->start;
        row.latency = wide->latency;
        row.children = wide->children;
        row.uncertainty = wide->uncertainty;
        if (wide->has_extra) {
          row.extra = static_cast<std::uint32_t>(extras.size());
          extras.push_back(wide->extra);
        }
        ++wide;
      }
    }
  }
}

void WaitingRows::take(std::uint32_t lane, std::vector<Row>& rows, std::vector<Extra>& extras) {
  read(lane, rows, extras);
  for (std::uint32_t chunk = lanes_[lane].first; chunk != no_chunk;) {
    const std::uint32_t next = next_of(chunk);
    used_ -= rows_in(chunk);
    next_of(chunk) = std::exchange(pools_[length_of(chunk)].free, chunk);
    chunk = next;
  }
  wide_[lane].clear();
  lanes_[lane] = Lane{};
}

} // namespace ptlens::cache
