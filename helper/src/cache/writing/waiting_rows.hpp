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
    const bool wide = extra != nullptr || !Slim::fits(call);
    *into.next++ = Slim(call, flags, wide);
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
  static constexpr std::size_t shortest = 2; // rows
  static constexpr std::size_t rows_per_slab = 256;
  static constexpr std::uint32_t no_chunk = UINT32_MAX;

  // A row in little memory, which is not cleared, because each row is written before it is read.
  class Slim {
  public:
    Slim() = default;
    Slim(const stacks::ClosedCall& call, unsigned flags, bool wide)
        : start_(call.start << flag_bits | flags | (wide ? wide_bit : 0U)),
          times_(call.latency | call.children << time_bits |
                 std::uint64_t{call.uncertainty} << 2 * time_bits),
          order_(call.order), parent_(call.parent) {}

    // Returns whether the row has all of the call. Others have no start and no times.
    [[nodiscard]] static bool fits(const stacks::ClosedCall& call) {
      return (call.start >> (64 - flag_bits) | (call.latency | call.children) >> time_bits |
              call.uncertainty >> uncertainty_bits) == 0;
    }
    [[nodiscard]] bool is_wide() const { return (start_ & wide_bit) != 0; }
    [[nodiscard]] Row row() const {
      constexpr std::uint64_t time = (std::uint64_t{1} << time_bits) - 1;
      return {.start = start_ >> flag_bits,
              .latency = times_ & time,
              .children = times_ >> time_bits & time,
              .order = order_,
              .parent = parent_,
              .uncertainty = static_cast<std::uint32_t>(times_ >> 2 * time_bits),
              .extra = 0,
              .flags = static_cast<std::uint8_t>(start_ & (wide_bit - 1))};
    }

  private:
    static constexpr unsigned flag_bits = 8;
    static constexpr unsigned wide_bit = 0x80;       // the lane's next Wide has the rest
    static constexpr unsigned time_bits = 24;        // 16 ms
    static constexpr unsigned uncertainty_bits = 16; // 65 us

    std::uint64_t start_; // ns, and flags
    std::uint64_t times_; // latency, children and uncertainty, ns
    stacks::CallId order_;
    stacks::CallId parent_;
  };
  static_assert(sizeof(Slim) == 24);
  struct Wide {
    std::uint64_t start = 0;
    std::uint64_t latency = 0;
    std::uint64_t children = 0;
    std::uint32_t uncertainty = 0;
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
