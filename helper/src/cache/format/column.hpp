// A column of integers in as few bytes as its range needs: frame of reference (Goldstein,
// Ramakrishnan, Shaft: Compressing Relations and Indexes, ICDE 1998) with whole bytes, so that a
// column is decoded at memory speed.
//
//   1 byte   width of an entry in the low four bits (0 to 8: 0 where all are equal), bytes of the
//            base in the high four
//   base     the least value, as a signed number; missing bytes are zero
//   entries  value - base, little-endian
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace ptlens::cache {

// Reading an entry may touch this many bytes past the end of its column.
inline constexpr std::size_t column_padding = 8;

// Returns the largest number of bytes that writing a column of `count` entries may touch.
[[nodiscard]] constexpr std::size_t most_column_bytes(std::size_t count) {
  return 1 + sizeof(std::uint64_t) * (count + 2);
}

// Writes the column at `out`, which has room for most_column_bytes(). Returns the end of the
// column.
[[nodiscard]] std::byte* write_column(std::span<const std::uint64_t> values, std::byte* out);

class Column {
public:
  // Returns the column of `count` entries at `at`, and moves `at` past it. Returns nothing where
  // the bytes end too early.
  [[nodiscard]] static std::optional<Column> parse(std::span<const std::byte> bytes,
                                                   std::size_t& at, std::size_t count);

  [[nodiscard]] std::uint64_t operator[](std::size_t index) const {
    std::uint64_t entry = 0;
    std::memcpy(&entry, entries_ + index * width_, sizeof entry);
    return base_ + (entry & mask_);
  }

  // A range that contains all entries.
  struct Bounds {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };
  [[nodiscard]] Bounds bounds() const {
    const std::uint64_t most = base_ + mask_;
    return most < base_ ? Bounds{.least = 0, .most = UINT64_MAX}
                        : Bounds{.least = base_, .most = most};
  }

  // Returns the value of all entries where they are equal.
  [[nodiscard]] std::optional<std::uint64_t> constant() const {
    return width_ == 0 ? std::optional(base_) : std::nullopt;
  }

  // Copies the first entries to `out`.
  void read(std::span<std::uint64_t> out) const;
  template <class T>
  void read(std::span<T> out) const {
    switch (width_) {
    case 0:
      std::ranges::fill(out, static_cast<T>(base_));
      break;
    case 1:
      read_words<std::uint8_t>(out);
      break;
    case 2:
      read_words<std::uint16_t>(out);
      break;
    case 4:
      read_words<std::uint32_t>(out);
      break;
    default:
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<T>((*this)[i]);
      }
      break;
    }
  }

private:
  template <class Word, class T>
  void read_words(std::span<T> out) const {
    const auto base = static_cast<T>(base_);
    for (std::size_t i = 0; i < out.size(); ++i) {
      Word word = 0;
      std::memcpy(&word, entries_ + i * sizeof word, sizeof word);
      out[i] = static_cast<T>(base + word);
    }
  }

  const std::byte* entries_ = nullptr;
  std::uint64_t base_ = 0;
  std::uint64_t mask_ = 0;
  std::size_t width_ = 0;
};

} // namespace ptlens::cache
