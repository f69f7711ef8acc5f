// The calls of one edge and one thread, some thousands at most, as columns one after the other:
//
//   flags | start, less the start before | latency | children | order, less the order before |
//   order - order of the parent (0: a root) | uncertainty
//   and of those calls whose flags have the extra bit:
//   outside | blocked | preempted | switches | order - order of the first call inside
//
// ordered by number of opening. The first start and order are less those in the block's entry.
#pragma once

#include "cache/column.hpp"
#include "cache/format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::cache {

struct Extra { // what most calls have nothing of
  std::uint64_t outside = 0;
  std::uint64_t blocked = 0;
  std::uint64_t preempted = 0;
  std::uint32_t switches = 0;
  std::uint32_t before = 0; // by how much the first call inside it has a lower order
};

struct Row {
  std::uint64_t start = 0;
  std::uint64_t latency = 0;
  std::uint64_t children = 0;
  std::uint32_t order = 0;
  std::uint32_t parent = stacks::no_call; // an order
  std::uint32_t uncertainty = 0;
  std::uint32_t extra = 0; // index, where the flags say that there is one
  std::uint8_t flags = 0;
};

// Makes blocks one after the other, in memory that it uses again.
class BlockEncoder {
public:
  // Orders the rows by number of opening, makes their block, and fills in the entry but for offset,
  // checksum and thread. At least one row, at most as many as an entry can count.
  [[nodiscard]] BlockEntry encode(std::vector<Row>& rows, std::span<const Extra> extras);
  // The block; stands until the next one is made.
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }

private:
  template <class Value>
  std::byte* add_extras(std::span<const Row> rows, std::span<const Extra> extras, std::byte* out,
                        Value value);

  std::vector<std::uint64_t> values_;
  std::vector<std::byte> bytes_;
  std::size_t size_ = 0;
};

[[nodiscard]] FunctionSums sums_of(std::span<const Row> rows, std::span<const Extra> extras);

// The row's inner bit was turned over since its sums were taken.
void turn_inner(FunctionSums& sums, const Row& row, std::span<const Extra> extras);

struct Block {
  Column flags;
  Column start_step;
  Column latency;
  Column children;
  Column order_step;
  Column distance;
  Column uncertainty;
  Column outside;
  Column blocked;
  Column preempted;
  Column switches;
  Column before;

  // Nothing where the bytes are not those of such a block.
  [[nodiscard]] static std::optional<Block> parse(std::span<const std::byte> bytes,
                                                  const BlockEntry& entry);

  // All of it, appended.
  void read_rows(const BlockEntry& entry, std::vector<Row>& rows, std::vector<Extra>& extras) const;
  // Each entry.calls long.
  void read_starts(const BlockEntry& entry, std::span<std::uint64_t> out) const;
  void read_orders(const BlockEntry& entry, std::span<std::uint32_t> out) const;
};

} // namespace ptlens::cache
