// Rows that wait for their block: a list for each lane, in chunks of one pool. Each chunk of a lane
// is twice as long as the previous one, up to a bound. So lanes with few rows take little memory,
// and the rows of the others are contiguous: they exceed the processor's cache, and are read once.
#pragma once

#include "base/large_pages.hpp"
#include "cache/format/block.hpp"
#include "stacks/calls/closed_call.hpp"

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
  // Returns the size of the chunks that are in use.
  [[nodiscard]] std::size_t bytes() const { return used_ * sizeof(Slim); }

  // Prefetch the data that add() will read, and then the data that it will write.
  void prefetch_lane(std::uint32_t lane) const { __builtin_prefetch(&lanes_[lane], 1); }
  void prefetch_row(std::uint32_t lane) const { __builtin_prefetch(lanes_[lane].next, 1); }

  // Adds the row of the call and returns the number of the lane's waiting rows. `extra` is null
  // where the row has none.
  std::uint32_t add(std::uint32_t lane, const stacks::ClosedCall& call, unsigned flags,
                    const Extra* extra) {
    Lane& into = lanes_[lane];
    if (into.room == 0) {
      add_chunk(into);
    }
    const bool wide = extra != nullptr || ((call.latency | call.children) >> 32U) != 0;
    *into.next++ = Slim{.start = call.start,
                        .latency = static_cast<std::uint32_t>(call.latency),
                        .children = static_cast<std::uint32_t>(call.children),
                        .order = call.order,
                        .parent = call.parent,
                        .uncertainty = call.uncertainty,
                        .flags = static_cast<std::uint8_t>(flags),
                        .wide = static_cast<std::uint8_t>(wide)};
    --into.room;
    if (wide) [[unlikely]] {
      add_wide(lane, call, extra);
    }
    return ++into.count;
  }

  // Prefetches the first rows of the lane, which take() will read.
  void prefetch_rows(std::uint32_t lane) const {
    if (lanes_[lane].first != no_chunk) {
      prefetch_chunk(lanes_[lane].first);
    }
  }

  // Appends the rows of the lane to `rows`, in the order in which they were added, and their extras
  // to `extras`.
  void read(std::uint32_t lane, std::vector<Row>& rows, std::vector<Extra>& extras) const;
  // Does the same, and removes the rows.
  void take(std::uint32_t lane, std::vector<Row>& rows, std::vector<Extra>& extras);

private:
  static constexpr unsigned lengths = 8; // 2, 4, ... 256 rows
  static constexpr unsigned length_bits = 3;
  static constexpr std::size_t shortest = 2; // rows: a cache line
  static constexpr std::size_t rows_per_slab = 256;
  static constexpr std::uint32_t no_chunk = UINT32_MAX;

  // A row; of a wide one only the low halves of the times. Its memory is not cleared, because each
  // row is written before it is read.
  struct Slim {
    std::uint64_t start;
    std::uint32_t latency;
    std::uint32_t children;
    stacks::CallId order;
    stacks::CallId parent;
    std::uint32_t uncertainty;
    std::uint8_t flags;
    std::uint8_t wide; // 1: the lane's next Wide has the rest
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
    std::array<Slim, rows_per_slab> rows;
  };
  struct Uncleared : LargePages<Slab> { // allocates slabs without clearing them
    template <class U>
    struct rebind {
      using other = Uncleared;
    };
    void construct(Slab* /*slab*/) {}
  };
  // Chunks of one length. The low bits of a chunk's number are the number of its length.
  struct Pool {
    std::vector<Slab*> slabs;
    std::vector<std::uint32_t> next; // by index: the next chunk of its lane, or the next free one
    std::uint32_t free = no_chunk;
  };
  struct Lane {
    Slim* next = nullptr;    // free slot
    std::uint32_t room = 0;  // free slots of the chunk
    std::uint32_t count = 0; // rows
    std::uint32_t first = no_chunk;
    std::uint32_t last = no_chunk;
  };

  [[nodiscard]] static unsigned length_of(std::uint32_t chunk) {
    return chunk & ((1U << length_bits) - 1U);
  }
  [[nodiscard]] static std::uint32_t index_of(std::uint32_t chunk) { return chunk >> length_bits; }
  [[nodiscard]] static std::uint32_t rows_in(std::uint32_t chunk) {
    return static_cast<std::uint32_t>(shortest << length_of(chunk));
  }
  [[nodiscard]] std::uint32_t& next_of(std::uint32_t chunk) {
    return pools_[length_of(chunk)].next[index_of(chunk)];
  }
  [[nodiscard]] std::uint32_t next_of(std::uint32_t chunk) const {
    return pools_[length_of(chunk)].next[index_of(chunk)];
  }
  [[nodiscard]] Slim* rows(std::uint32_t chunk) const {
    const std::size_t row = std::size_t{index_of(chunk)} * rows_in(chunk);
    return &pools_[length_of(chunk)].slabs[row / rows_per_slab]->rows[row % rows_per_slab];
  }
  // Prefetches the first cache line; processors foresee the following ones.
  void prefetch_chunk(std::uint32_t chunk) const { __builtin_prefetch(rows(chunk)); }
  [[nodiscard]] std::uint32_t take_free(unsigned length);
  [[nodiscard]] Slab* new_slab();
  void add_chunk(Lane& lane);
  void add_wide(std::uint32_t lane, const stacks::ClosedCall& call, const Extra* extra);

  std::vector<Lane, LargePages<Lane>> lanes_;
  std::vector<std::vector<Wide>> wide_;             // by lane
  std::vector<std::vector<Slab, Uncleared>> slabs_; // allocations, which double in size
  std::size_t slabs_left_ = 0;                      // of the last allocation
  std::array<Pool, lengths> pools_;
  std::size_t used_ = 0; // rows of the chunks that are in use
};

} // namespace ptlens::cache
