// A block: some hundred calls of one edge and one thread, ordered by number of opening, as columns
// one after the other:
//
//   flags | start - previous start | latency | children | order - previous order |
//   order - order of the parent (0: a root) | uncertainty
//   and for calls whose flags have the extra bit:
//   outside | blocked | preempted | switches | order - order of the first call in it | removed
//
// The first start and order are relative to those in the block's entry.
#pragma once

#include "cache/format/column.hpp"
#include "cache/format/format.hpp"

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
  // offset, checksum and thread. There is at least one row, and at most 65,535.
  [[nodiscard]] BlockEntry encode(std::vector<Row>& rows, std::span<const Extra> extras);
  // Returns the block, which is valid until the next one is encoded.
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

// Corrects the sums after the row's inner bit was inverted.
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
  Column removed;

  // Returns nothing where the bytes are not a block that matches the entry.
  [[nodiscard]] static std::optional<Block> parse(std::span<const std::byte> bytes,
                                                  const BlockEntry& entry);

  // Appends all rows of the block.
  void read_rows(const BlockEntry& entry, std::vector<Row>& rows, std::vector<Extra>& extras) const;
  // Read a column into `out`, whose size is entry.calls.
  void read_starts(const BlockEntry& entry, std::span<std::uint64_t> out) const;
  void read_orders(const BlockEntry& entry, std::span<std::uint32_t> out) const;
  // Reads the times from start to end: latencies with the time of probes.
  void read_walls(const BlockEntry& entry, std::span<std::uint64_t> out) const;
};

} // namespace ptlens::cache
