// Pieces and their free list.
#include "store/waiting_rows.hpp"

namespace ptlens::store {

void WaitingRows::add_piece(Lane& lane) {
  if (free_ == no_piece) {
    const auto first = static_cast<std::uint32_t>(behind_.size());
    slabs_.push_back(std::make_unique<Piece[]>(pieces_a_slab));
    for (std::uint32_t number = 0; number < pieces_a_slab; ++number) {
      behind_.push_back(number + 1 < pieces_a_slab ? first + number + 1 : no_piece);
    }
    free_ = first;
  }
  const std::uint32_t added = free_;
  free_ = behind_[added];
  behind_[added] = no_piece;
  ++used_;
  if (lane.first == no_piece) {
    lane.first = added;
  } else {
    behind_[lane.last] = added;
  }
  lane.last = added;
  lane.next = piece(added).rows.data();
  lane.room = rows_a_piece;
}

void WaitingRows::add_wide(std::uint32_t lane, const Row& row, const Extra* extra) {
  wide_[lane].push_back({.latency = row.latency,
                         .children = row.children,
                         .has_extra = extra != nullptr,
                         .extra = extra != nullptr ? *extra : Extra{}});
}

void WaitingRows::take(std::uint32_t lane, std::vector<Row>& rows, std::vector<Extra>& extras) {
  Lane& from = lanes_[lane];
  auto wide = wide_[lane].begin();
  std::uint32_t left = from.count;
  rows.reserve(rows.size() + left);
  for (std::uint32_t number = from.first; number != no_piece;) {
    const std::uint32_t next = behind_[number];
    if (next != no_piece && behind_[next] != no_piece) {
      prefetch_piece(behind_[next]);
    }
    for (const Slim& slim : piece(number).rows) {
      if (left == 0) {
        break;
      }
      --left;
      Row& row = rows.emplace_back(Row{.start = slim.start,
                                       .latency = slim.latency,
                                       .children = slim.children,
                                       .order = slim.order,
                                       .parent = slim.parent,
                                       .resolution = slim.resolution,
                                       .extra = 0,
                                       .flags = slim.flags});
      if (slim.wide != 0) {
        row.latency = wide->latency;
        row.children = wide->children;
        if (wide->has_extra) {
          row.extra = static_cast<std::uint32_t>(extras.size());
          extras.push_back(wide->extra);
        }
        ++wide;
      }
    }
    behind_[number] = free_;
    free_ = number;
    --used_;
    number = next;
  }
  wide_[lane].clear();
  from = Lane{};
}

} // namespace ptlens::store
