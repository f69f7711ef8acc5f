// Columns are written and read in whole words.
#include "cache/format/column.hpp"

#include "cache/format/value_range.hpp"

#include <bit>

namespace ptlens::cache {
namespace {

constexpr unsigned bits_per_byte = 8;
constexpr unsigned low_half = 4;
constexpr std::size_t most_bytes = sizeof(std::uint64_t);

std::size_t bytes_of(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value)) + bits_per_byte - 1) / bits_per_byte;
}

template <class Word>
void put_words(const std::uint64_t* values, std::size_t count, std::uint64_t base, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = static_cast<Word>(values[i] - base);
    std::memcpy(out + i * sizeof word, &word, sizeof word);
  }
}

// Writes the low `width` bytes of each value. `out` has room for whole words.
PTLENS_ALSO_FOR_AVX2 void put(const std::uint64_t* values, std::size_t count, std::uint64_t base,
                              std::size_t width, std::byte* out) {
  switch (width) {
  case 0:
    return;
  case sizeof(std::uint8_t):
    put_words<std::uint8_t>(values, count, base, out);
    return;
  case sizeof(std::uint16_t):
    put_words<std::uint16_t>(values, count, base, out);
    return;
  case sizeof(std::uint32_t):
    put_words<std::uint32_t>(values, count, base, out);
    return;
  default:
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t entry = values[i] - base;
      std::memcpy(out, &entry, sizeof entry);
      out += width;
    }
    return;
  }
}

template <class Word>
void get_words(const std::byte* entries, std::size_t count, std::uint64_t base,
               std::uint64_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    Word word = 0;
    std::memcpy(&word, entries + i * sizeof word, sizeof word);
    out[i] = base + word;
  }
}

// Writes entries of one, two or four bytes.
PTLENS_ALSO_FOR_AVX2 void get(const std::byte* entries, std::size_t width, std::size_t count,
                              std::uint64_t base, std::uint64_t* out) {
  switch (width) {
  case sizeof(std::uint8_t):
    get_words<std::uint8_t>(entries, count, base, out);
    return;
  case sizeof(std::uint16_t):
    get_words<std::uint16_t>(entries, count, base, out);
    return;
  default:
    get_words<std::uint32_t>(entries, count, base, out);
    return;
  }
}

} // namespace

std::byte* write_column(std::span<const std::uint64_t> values, std::byte* out) {
  const ValueRange range = range_of(values);
  const auto base = values.empty() ? 0 : static_cast<std::uint64_t>(range.least);
  const std::size_t width =
      values.empty() ? 0 : bytes_of(static_cast<std::uint64_t>(range.most) - base);
  const std::size_t base_bytes = bytes_of(base);
  *out++ = static_cast<std::byte>(width | base_bytes << low_half);
  std::memcpy(out, &base, sizeof base);
  out += base_bytes;
  put(values.data(), values.size(), base, width, out);
  return out + width * values.size();
}

void Column::read(std::span<std::uint64_t> out) const {
  if (width_ == 1 || width_ == 2 || width_ == 4) {
    get(entries_, width_, out.size(), base_, out.data());
  } else {
    read<std::uint64_t>(out);
  }
}

std::optional<Column> Column::parse(std::span<const std::byte> bytes, std::size_t& at,
                                    std::size_t count) {
  if (at >= bytes.size()) {
    return std::nullopt;
  }
  const auto head = std::to_integer<unsigned>(bytes[at]);
  const std::size_t width = head & ((1U << low_half) - 1);
  const std::size_t base_bytes = head >> low_half;
  if (width > most_bytes || base_bytes > most_bytes) {
    return std::nullopt;
  }
  const std::size_t left = bytes.size() - at - 1;
  if (base_bytes > left || (width != 0 && count > (left - base_bytes) / width)) {
    return std::nullopt;
  }
  Column column;
  std::memcpy(&column.base_, bytes.data() + at + 1, base_bytes);
  column.entries_ = bytes.data() + at + 1 + base_bytes;
  column.width_ = width;
  column.mask_ =
      width == most_bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << (width * bits_per_byte)) - 1;
  at += 1 + base_bytes + width * count;
  return column;
}

} // namespace ptlens::cache
