// Writing a column and finding one.
#include "store/column.hpp"

#include <bit>

namespace ptlens::store {
namespace {

constexpr unsigned bits_a_byte = 8;
constexpr unsigned low_half = 4;
constexpr std::size_t most_bytes = sizeof(std::uint64_t);

std::size_t bytes_of(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value)) + bits_a_byte - 1) / bits_a_byte;
}

// `width` low bytes of each value, one after the other. `out` has room for whole words.
void put(std::span<const std::uint64_t> values, std::uint64_t base, std::size_t width,
         std::byte* out) {
  for (const std::uint64_t value : values) {
    const std::uint64_t entry = value - base;
    std::memcpy(out, &entry, sizeof entry);
    out += width;
  }
}

} // namespace

void append_column(std::span<const std::uint64_t> values, std::vector<std::byte>& out) {
  std::int64_t least = INT64_MAX;
  std::int64_t most = INT64_MIN;
  for (const std::uint64_t value : values) {
    least = std::min(least, static_cast<std::int64_t>(value));
    most = std::max(most, static_cast<std::int64_t>(value));
  }
  const auto base = values.empty() ? 0 : static_cast<std::uint64_t>(least);
  const std::uint64_t range = values.empty() ? 0 : static_cast<std::uint64_t>(most) - base;
  const std::size_t width = bytes_of(range);
  const std::size_t base_bytes = bytes_of(base);
  const std::size_t size = 1 + base_bytes + width * values.size();
  const std::size_t begin = out.size();
  out.resize(begin + size + most_bytes);
  out[begin] = static_cast<std::byte>(width | base_bytes << low_half);
  std::memcpy(&out[begin + 1], &base, sizeof base);
  put(values, base, width, &out[begin + 1 + base_bytes]);
  out.resize(begin + size);
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
      width == most_bytes ? ~std::uint64_t{0} : (std::uint64_t{1} << (width * bits_a_byte)) - 1;
  at += 1 + base_bytes + width * count;
  return column;
}

} // namespace ptlens::store
