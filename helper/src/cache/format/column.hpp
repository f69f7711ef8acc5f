// A column of integers in as few bits as most of its values need: patched frame of reference
// (Zukowski, Heman, Nes, Boncz: Super-Scalar RAM-CPU Cache Compression, ICDE 2006). Few values that
// need more bits have their high bits apart.
//
// Where all values are equal:
//   1 byte     bytes of the base (0 to 8)
//   base       the value; missing bytes are zero
// and else:
//   1 byte     128 + bits of an entry (0 to 64)
//   1 byte     bytes of the base, + 16 where there are exceptions
//   base       the least value, as a signed number; missing bytes are zero
//   entries    the low bits of value - base, one after the other, the first in the lowest bits
//   2 bytes    number of exceptions
//   1 byte     number of high bits of an exception (1 to 64)
//   positions  of the exceptions, ascending, each with as many bits as the last position needs
//   high bits  of (value - base) of each exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ptlens::cache {

// Reading an entry may touch this many bytes past the end of its column.
inline constexpr std::size_t column_padding = 8;

// Returns the largest number of bytes that writing a column of `count` entries may touch.
[[nodiscard]] constexpr std::size_t most_column_bytes(std::size_t count) {
  return 16 + sizeof(std::uint64_t) * (count + 2);
}

// How a column is written best.
struct ColumnPlan {
  std::uint64_t base = 0;  // the least value
  std::uint64_t range = 0; // the greatest value - base
  unsigned width = 0;      // bits of an entry
  unsigned most_width = 0; // bits of the largest entry
  std::uint32_t exceptions = 0;
  std::size_t bytes = 0; // of the whole column
};
// There are at most 65,535 values.
[[nodiscard]] ColumnPlan plan_column(std::span<const std::uint64_t> values);
// Writes the column at `out`, which has room for most_column_bytes(). Returns the end of the
// column.
[[nodiscard]] std::byte* write_column(std::span<const std::uint64_t> values, const ColumnPlan& plan,
                                      std::byte* out);

class Column {
public:
  // Returns the column of `count` entries at `at`, and moves `at` past it. Returns nothing where
  // the bytes are not such a column.
  [[nodiscard]] static std::optional<Column> parse(std::span<const std::byte> bytes,
                                                   std::size_t& at, std::size_t count);

  // A range that contains all values.
  struct Bounds {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };
  [[nodiscard]] Bounds bounds() const;

  // Returns the value of all entries where they are equal.
  [[nodiscard]] std::optional<std::uint64_t> constant() const {
    return width_ == 0 && exceptions_ == 0 ? std::optional(base_) : std::nullopt;
  }

  // Copies the values from index `first` on to `out`, cut to the size of T.
  void read(std::span<std::uint64_t> out, std::size_t first = 0) const;
  void read(std::span<std::uint32_t> out, std::size_t first = 0) const;
  void read(std::span<std::uint8_t> out, std::size_t first = 0) const;
  // Returns one value. Reading many at once is faster.
  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    std::uint64_t value = 0;
    read(std::span(&value, 1), index);
    return value;
  }

private:
  template <class T>
  void read_values(std::span<T> out, std::size_t first) const;
  [[nodiscard]] std::size_t first_exception(std::size_t position) const;

  const std::byte* entries_ = nullptr;
  const std::byte* positions_ = nullptr; // of exceptions
  const std::byte* high_ = nullptr;      // bits of exceptions
  std::uint64_t base_ = 0;
  std::uint16_t exceptions_ = 0;
  std::uint8_t width_ = 0; // bits
  std::uint8_t position_bits_ = 0;
  std::uint8_t high_bits_ = 0;
};

} // namespace ptlens::cache
