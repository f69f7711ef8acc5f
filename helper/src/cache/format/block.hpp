// A block: some hundred calls of one edge and one thread, ordered by number of opening, as a byte
// with its shape and columns one after the other:
//
//   flags | start | latency | children | order - previous order |
//   order - order of the parent (0: a root) | uncertainty
//   and for calls whose flags have the extra bit:
//   outside | blocked | preempted | switches | order - order of the first call in it | removed
//
// The first order is relative to that in the block's entry. `start` is the difference to the start
// of the previous call, the first one relative to the block's entry; or, if the shape says so, to
// the time in the thread's StartIndex, with the sign in the lowest bit. `children` is the time in
// the calls that it made, or, if the shape says so, the rest of its latency, whichever is shorter.
#pragma once

#include "cache/format/column.hpp"
#include "cache/format/format.hpp"
#include "cache/format/start_index.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::cache {

struct Extra { // values that are 0 for most calls
  std::uint64_t outside = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;
  std::uint32_t switches = 0;
  std::uint32_t before = 0; // how much lower the order of the first call in it is
  std::uint64_t removed = 0;
};

struct Row {
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t children = 0;
  stacks::CallId order{};
  stacks::CallId parent = stacks::CallId::none;
  std::uint32_t uncertainty = 0;
  std::uint32_t extra = 0; // index, valid if the flags have the extra bit
  std::uint8_t flags = 0;
};

// Encodes blocks one after the other, in memory that it reuses.
class BlockEncoder {
public:
  // Orders the rows by number of opening, encodes their block, and returns its entry without
  // offset, checksum and thread. There is at least one row, and at most 65,535. `starts`: those of
  // the thread.
  [[nodiscard]] BlockEntry encode(std::vector<Row>& rows, std::span<const Extra> extras,
                                  const StartIndex& starts);
  // Returns the sums of the rows that were encoded last.
  [[nodiscard]] FunctionSums sums(std::span<const Row> rows, std::span<const Extra> extras) const;
  // Returns the block, which is valid until the next one is encoded.
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

private:
  static constexpr std::size_t columns = 7;
  static constexpr std::size_t flags_column = 0;
  static constexpr std::size_t start_column = 1;
  static constexpr std::size_t latency_column = 2;
  static constexpr std::size_t children_column = 3;
  static constexpr std::size_t order_column = 4;
  static constexpr std::size_t distance_column = 5;
  static constexpr std::size_t uncertainty_column = 6;
  static constexpr std::size_t own_times_column = columns; // behind the others
  static constexpr std::size_t all_shapes = columns + 1;

  template <class Value>
  std::byte* add_extras(std::span<const Row> rows, std::span<const Extra> extras, std::byte* out,
                        Value value);

  [[nodiscard]] std::span<std::uint64_t> column(std::size_t number, std::size_t count) {
    return std::span(values_).subspan(number * count, count);
  }
  [[nodiscard]] std::span<const std::uint64_t> column(std::size_t number, std::size_t count) const {
    return std::span(values_).subspan(number * count, count);
  }
  void fill_columns(std::span<const Row> rows, const BlockEntry& entry, const StartIndex* starts);

  std::vector<std::uint64_t> values_;
  std::uint64_t all_flags_ = 0; // every flag that a row has
  ColumnPlan latencies_;
  std::vector<std::byte> bytes_;
  std::size_t size_ = 0;
};

// Corrects the sums after the row's inner bit was inverted.
void turn_inner(FunctionSums& sums, const Row& row, std::span<const Extra> extras);

// Gives the column a value for each call of the block, and returns them.
template <class T>
[[nodiscard]] std::span<T> sized_for(const BlockEntry& entry, std::vector<T>& column) {
  column.resize(entry.calls);
  return column;
}

// What block bytes start with.
inline constexpr std::uint8_t indexed_starts = 1; // starts are relative to the thread's index
inline constexpr std::uint8_t own_times = 2;      // latency - children, in place of the children

struct Block {
  Column flags;
  Column start;
  Column latency;
  Column child_time; // as the shape says
  Column order_step;
  Column distance;
  Column uncertainty;
  Column outside;
  Column blocked;
  Column preempted;
  Column switches;
  Column before;
  Column removed;
  StartIndex starts; // of the thread
  std::uint8_t shape = 0;

  // Returns nothing where the bytes are not a block that matches the entry.
  [[nodiscard]] static std::optional<Block> parse(std::span<const std::byte> bytes,
                                                  const BlockEntry& entry, StartIndex starts);

  // Appends all rows of the block.
  void read_rows(const BlockEntry& entry, std::vector<Row>& rows, std::vector<Extra>& extras) const;
  // Read a column into `out`, whose size is entry.calls.
  void read_starts(const BlockEntry& entry, std::span<std::uint64_t> out) const;
  // Reads at least the starts of the calls that `wanted` is true of, a function of their index. The
  // starts of the others are undefined.
  template <class Wanted>
  void read_starts_where(const BlockEntry& entry, const Wanted& wanted,
                         std::span<std::uint64_t> out) const {
    constexpr std::size_t together = 64;
    std::array<std::uint32_t, together> orders;
    const bool indexed = (shape & indexed_starts) != 0;
    Position position(entry);
    for (std::size_t first = 0; first < out.size(); first += together) {
      const auto part = out.subspan(first, std::min(together, out.size() - first));
      bool any = !indexed;
      for (std::size_t i = 0; i < part.size(); ++i) {
        any |= wanted(first + i);
      }
      if (indexed) {
        read_orders(position, first, std::span(orders).first(part.size()));
      }
      if (any) {
        read_starts(position, first, orders, part);
      }
    }
  }
  void read_orders(const BlockEntry& entry, std::span<std::uint32_t> out) const;
  // Reads the times from start to end: latencies with the time of probes.
  void read_walls(const BlockEntry& entry, std::span<std::uint64_t> out) const;
  // Reads the time in the calls that calls from index `first` on made. `latencies`: theirs.
  void read_children(std::span<const std::uint64_t> latencies, std::span<std::uint64_t> out,
                     std::size_t first = 0) const;

  // Calls `use` with the index of each call that has extra columns, and its index in these.
  template <class Use>
  void each_extra(const BlockEntry& entry, const Use& use) const {
    constexpr std::size_t together = 64;
    std::array<std::uint8_t, together> marks;
    std::size_t extra = 0;
    for (std::size_t first = 0; first < entry.calls && extra < entry.extras; first += together) {
      const std::size_t count = std::min<std::size_t>(together, entry.calls - first);
      flags.read(std::span(marks).first(count), first);
      for (std::size_t i = 0; i < count && extra < entry.extras; ++i) {
        if ((marks[i] & extra_bit) != 0) {
          use(first + i, extra++);
        }
      }
    }
  }

  // What the starts and orders of a part of the block follow on.
  struct Position {
    std::uint32_t order = 0;
    std::uint64_t start = 0;

    explicit Position(const BlockEntry& entry)
        : order(entry.first_order), start(entry.first_start) {}
  };
  // Read the columns from index `first` on. `position` is that after the call before, and is moved
  // past the last call that is read.
  void read_orders(Position& position, std::size_t first, std::span<std::uint32_t> out) const;
  // `orders`: those of the same calls.
  void read_starts(Position& position, std::size_t first, std::span<const std::uint32_t> orders,
                   std::span<std::uint64_t> out) const;
};

} // namespace ptlens::cache
