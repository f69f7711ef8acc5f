// Rows that wait for their block: a list for each lane, in pieces of one pool, each twice as long
// as the lane's piece before up to a bound. So lanes with few rows take little memory, and those of
// lanes with many lie together: what waits is more than a cache holds, and is read once.
#pragma once

#include "base/large_pages.hpp"
#include "cache/block.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptlens::cache {

class WaitingRows {
public:
  [[nodiscard]] std::uint32_t add_lane() {
    lanes_.emplace_back();
    wide_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }
  [[nodiscard]] std::size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] std::uint32_t count(std::uint32_t lane) const { return lanes_[lane].count; }
  // Of the pieces that are in use.
  [[nodiscard]] std::size_t bytes() const { return used_ * sizeof(Slim); }

  // Asks for what add() of the lane will read, and when that has come, for what it will write.
  void prefetch_lane(std::uint32_t lane) const { __builtin_prefetch(&lanes_[lane], 1); }
  void prefetch_row(std::uint32_t lane) const { __builtin_prefetch(lanes_[lane].next, 1); }

  // `extra` is null where the row has none; the row's own index of one is not looked at. How many
  // rows of the lane wait then.
  std::uint32_t add(std::uint32_t lane, const Row& row, const Extra* extra) {
    Lane& into = lanes_[lane];
    if (into.room == 0) {
      add_piece(into);
    }
    const bool wide = extra != nullptr || ((row.latency | row.children) >> 32U) != 0;
    *into.next++ = Slim{.start = row.start,
                        .latency = static_cast<std::uint32_t>(row.latency),
                        .children = static_cast<std::uint32_t>(row.children),
                        .order = row.order,
                        .parent = row.parent,
                        .uncertainty = row.uncertainty,
                        .flags = row.flags,
                        .wide = static_cast<std::uint8_t>(wide)};
    --into.room;
    if (wide) {
      add_wide(lane, row, extra);
    }
    return ++into.count;
  }

  // Asks for the first rows of the lane, which take() will read.
  void prefetch_rows(std::uint32_t lane) const {
    if (lanes_[lane].first != no_piece) {
      prefetch_piece(lanes_[lane].first);
    }
  }

  // Copies the rows of the lane behind those of `rows`, in the order in which they were added, and
  // their extras behind `extras`.
  void read(std::uint32_t lane, std::vector<Row>& rows, std::vector<Extra>& extras) const;
  // The same, and they wait no longer.
  void take(std::uint32_t lane, std::vector<Row>& rows, std::vector<Extra>& extras);

private:
  static constexpr unsigned lengths = 8; // 2, 4, ... 256 rows
  static constexpr unsigned length_bits = 3;
  static constexpr std::size_t shortest = 2; // rows: a cache line
  static constexpr std::size_t rows_a_slab = 256;
  static constexpr std::uint32_t no_piece = UINT32_MAX;

  struct Slim { // of a row that is wide too the low halves alone
    std::uint64_t start = 0;
    std::uint32_t latency = 0;
    std::uint32_t children = 0;
    std::uint32_t order = 0;
    std::uint32_t parent = stacks::no_call;
    std::uint32_t uncertainty = 0;
    std::uint8_t flags = 0;
    std::uint8_t wide = 0; // 1: the next of the lane's wide ones has the rest
  };
  static_assert(sizeof(Slim) == 32);
  struct Wide {
    std::uint64_t latency = 0;
    std::uint64_t children = 0;
    bool has_extra = false;
    Extra extra = {};
  };
  static constexpr std::size_t cache_line = 64;
  struct alignas(cache_line) Slab {
    std::array<Slim, rows_a_slab> rows;
  };
  // Pieces of one length. A piece bears the number of its length in the low bits of its own.
  struct Pool {
    std::vector<Slab*> slabs;
    std::vector<std::uint32_t> behind; // by index: the next piece of its lane, or free one
    std::uint32_t free = no_piece;
  };
  struct Lane {
    Slim* next = nullptr;    // free slot
    std::uint32_t room = 0;  // slots from there on, in the piece
    std::uint32_t count = 0; // rows
    std::uint32_t first = no_piece;
    std::uint32_t last = no_piece;
  };

  [[nodiscard]] static unsigned length_of(std::uint32_t piece) {
    return piece & ((1U << length_bits) - 1U);
  }
  [[nodiscard]] static std::uint32_t index_of(std::uint32_t piece) { return piece >> length_bits; }
  [[nodiscard]] static std::uint32_t rows_in(std::uint32_t piece) {
    return static_cast<std::uint32_t>(shortest << length_of(piece));
  }
  [[nodiscard]] std::uint32_t& behind(std::uint32_t piece) {
    return pools_[length_of(piece)].behind[index_of(piece)];
  }
  [[nodiscard]] std::uint32_t behind(std::uint32_t piece) const {
    return pools_[length_of(piece)].behind[index_of(piece)];
  }
  [[nodiscard]] Slim* rows(std::uint32_t piece) const {
    const std::size_t row = std::size_t{index_of(piece)} * rows_in(piece);
    return &pools_[length_of(piece)].slabs[row / rows_a_slab]->rows[row % rows_a_slab];
  }
  // The first line: what comes behind is read in order, which processors foresee.
  void prefetch_piece(std::uint32_t piece) const { __builtin_prefetch(rows(piece)); }
  [[nodiscard]] std::uint32_t take_free(unsigned length);
  [[nodiscard]] Slab* new_slab();
  void add_piece(Lane& lane);
  void add_wide(std::uint32_t lane, const Row& row, const Extra* extra);

  std::vector<Lane, LargePages<Lane>> lanes_;
  std::vector<std::vector<Wide>> wide_;                    // by lane
  std::vector<std::vector<Slab, LargePages<Slab>>> slabs_; // as many as before and more at a time
  std::size_t slabs_left_ = 0;                             // of the last of them
  std::array<Pool, lengths> pools_;
  std::size_t used_ = 0; // rows of the pieces that are in use
};

} // namespace ptlens::cache
