// The width is chosen by the number of values that need each width.
#include "cache/format/column.hpp"

#include "cache/format/bit_packing.hpp"
#include "cache/format/value_range.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace ptlens::cache {
namespace {

constexpr unsigned bits_per_byte = 8;
constexpr unsigned most_bits = 64;
constexpr std::size_t most_bytes = sizeof(std::uint64_t);
constexpr unsigned varied_mark = 128;
constexpr unsigned exceptions_mark = 16;
constexpr std::size_t exceptions_head = 3;

constexpr std::size_t bytes_of_bits(std::size_t bits) {
  return (bits + bits_per_byte - 1) / bits_per_byte;
}

std::size_t bytes_of(std::uint64_t value) {
  return bytes_of_bits(static_cast<std::size_t>(std::bit_width(value)));
}

unsigned position_bits_of(std::size_t count) {
  return static_cast<unsigned>(std::bit_width(count - 1));
}

std::size_t patch_bytes(std::size_t exceptions, std::size_t count, unsigned high_bits) {
  return exceptions_head + bytes_of_bits(exceptions * position_bits_of(count)) +
         bytes_of_bits(exceptions * high_bits);
}

// Reads a number of at most 8 bytes, with a whole word.
std::uint64_t number_at(const std::byte* at, std::size_t bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return bytes == most_bytes ? word : word & ((std::uint64_t{1} << (bytes * bits_per_byte)) - 1);
}

// The number of values by their width above the base, two counts of it in turn: equal widths often
// follow each other, and would wait for each other.
using WidthCounts = std::array<std::array<std::uint32_t, most_bits + 1>, 2>;

PTLENS_ALSO_FOR_AVX2 void count_widths(const std::uint64_t* values, std::size_t count,
                                       std::uint64_t base, WidthCounts& counts) {
  const auto width = [&](std::size_t i) {
    return static_cast<std::size_t>(std::bit_width(values[i] - base));
  };
  for (std::size_t i = 1; i < count; i += 2) {
    ++counts[0][width(i - 1)];
    ++counts[1][width(i)];
  }
  counts[0][width(count - 1)] += count % 2;
}

// Writes the positions of the values that need more than `width` bits above the base, and their
// high bits. Both arrays have room for one more.
PTLENS_ALSO_FOR_AVX2 void find_exceptions(const std::uint64_t* values, std::size_t count,
                                          std::uint64_t base, unsigned width,
                                          std::uint64_t* positions, std::uint64_t* high) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = (values[i] - base) >> width;
    positions[found] = i;
    high[found] = bits;
    found += bits != 0 ? 1 : 0; // no jump: it would be predicted badly
  }
}

} // namespace

ColumnPlan plan_column(std::span<const std::uint64_t> values) {
  if (values.empty()) {
    return {.bytes = 1};
  }
  const ValueRange range = range_of(values);
  ColumnPlan plan{.base = static_cast<std::uint64_t>(range.least)};
  const std::size_t base_bytes = bytes_of(plan.base);
  plan.range = static_cast<std::uint64_t>(range.most) - plan.base;
  plan.most_width = static_cast<unsigned>(std::bit_width(plan.range));
  if (plan.most_width == 0) {
    plan.bytes = 1 + base_bytes;
    return plan;
  }
  std::size_t least = bytes_of_bits(values.size() * plan.most_width);
  plan.width = plan.most_width;
  if (least <= exceptions_head) {
    plan.bytes = 2 + base_bytes + least;
    return plan;
  }
  WidthCounts counts;
  for (auto& each : counts) {
    std::fill_n(each.begin(), plan.most_width + 1, 0U);
  }
  count_widths(values.data(), values.size(), plan.base, counts);
  std::uint32_t above = 0;
  for (unsigned width = plan.most_width; width-- > 0;) {
    above += counts[0][width + 1] + counts[1][width + 1];
    const std::size_t patches = patch_bytes(above, values.size(), plan.most_width - width);
    if (patches > least) {
      break; // narrower entries have more exceptions
    }
    const std::size_t bytes = bytes_of_bits(values.size() * width) + patches;
    if (bytes < least) {
      least = bytes;
      plan.width = width;
      plan.exceptions = above;
    }
  }
  plan.bytes = 2 + base_bytes + least;
  return plan;
}

std::byte* write_column(std::span<const std::uint64_t> values, const ColumnPlan& plan,
                        std::byte* out) {
  const std::size_t base_bytes = bytes_of(plan.base);
  if (plan.most_width == 0) {
    *out++ = static_cast<std::byte>(base_bytes);
    std::memcpy(out, &plan.base, sizeof plan.base);
    return out + base_bytes;
  }
  *out++ = static_cast<std::byte>(varied_mark | plan.width);
  *out++ = static_cast<std::byte>(base_bytes | (plan.exceptions != 0 ? exceptions_mark : 0));
  std::memcpy(out, &plan.base, sizeof plan.base);
  out = pack_bits(values, plan.base, plan.width, out + base_bytes);
  if (plan.exceptions == 0) {
    return out;
  }
  const auto exceptions = static_cast<std::uint16_t>(plan.exceptions);
  const unsigned high_bits = plan.most_width - plan.width;
  std::memcpy(out, &exceptions, sizeof exceptions);
  out[sizeof exceptions] = static_cast<std::byte>(high_bits);
  out += exceptions_head;
  std::vector<std::uint64_t> positions(2 * (std::size_t{plan.exceptions} + 1));
  const auto high = std::span(positions).subspan(std::size_t{plan.exceptions} + 1);
  find_exceptions(values.data(), values.size(), plan.base, plan.width, positions.data(),
                  high.data());
  out = pack_bits(std::span(positions).first(plan.exceptions), 0, position_bits_of(values.size()),
                  out);
  return pack_bits(high.first(plan.exceptions), 0, high_bits, out);
}

std::optional<Column> Column::parse(std::span<const std::byte> bytes, std::size_t& at,
                                    std::size_t count) {
  auto left = bytes.subspan(std::min(at, bytes.size()));
  const auto take = [&left](std::size_t wanted) -> const std::byte* {
    if (wanted > left.size()) {
      return nullptr;
    }
    const std::byte* const taken = left.data();
    left = left.subspan(wanted);
    return taken;
  };
  const std::byte* head = take(1);
  if (head == nullptr) {
    return std::nullopt;
  }
  Column column;
  auto base_bytes = std::to_integer<unsigned>(*head);
  bool has_exceptions = false;
  if ((base_bytes & varied_mark) != 0) {
    const unsigned width = base_bytes - varied_mark;
    if (head = take(1); head == nullptr || width > most_bits) {
      return std::nullopt;
    }
    column.width_ = static_cast<std::uint8_t>(width);
    has_exceptions = (std::to_integer<unsigned>(*head) & exceptions_mark) != 0;
    base_bytes = std::to_integer<unsigned>(*head) & ~exceptions_mark;
  }
  const std::byte* const base = base_bytes > most_bytes ? nullptr : take(base_bytes);
  if (base == nullptr) {
    return std::nullopt;
  }
  column.base_ = number_at(base, base_bytes);
  column.entries_ = take(bytes_of_bits(count * column.width_));
  if (column.entries_ == nullptr) {
    return std::nullopt;
  }
  if (has_exceptions) {
    const std::byte* const numbers = take(exceptions_head);
    if (numbers == nullptr || column.width_ == most_bits) {
      return std::nullopt;
    }
    column.exceptions_ = static_cast<std::uint16_t>(number_at(numbers, 2));
    column.high_bits_ = std::to_integer<std::uint8_t>(numbers[2]);
    column.position_bits_ = static_cast<std::uint8_t>(position_bits_of(count));
    column.positions_ =
        take(bytes_of_bits(std::size_t{column.exceptions_} * column.position_bits_));
    column.high_ = take(bytes_of_bits(std::size_t{column.exceptions_} * column.high_bits_));
    if (count == 0 || column.high_bits_ > most_bits || column.positions_ == nullptr ||
        column.high_ == nullptr) {
      return std::nullopt;
    }
  }
  at = bytes.size() - left.size();
  return column;
}

Column::Bounds Column::bounds() const {
  const unsigned width = width_ + (exceptions_ != 0 ? unsigned{high_bits_} : 0U);
  if (width >= most_bits) {
    return {.least = 0, .most = UINT64_MAX};
  }
  const std::uint64_t most = base_ + ((std::uint64_t{1} << width) - 1);
  return most < base_ ? Bounds{.least = 0, .most = UINT64_MAX}
                      : Bounds{.least = base_, .most = most};
}

// Returns the first exception at that position or after it.
std::size_t Column::first_exception(std::size_t position) const {
  std::size_t begin = 0;
  std::size_t end = exceptions_;
  while (begin < end) {
    const std::size_t middle = (begin + end) / 2;
    std::uint64_t at = 0;
    unpack_bits(positions_, position_bits_, middle, 0, std::span(&at, 1));
    if (at < position) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

template <class T>
void Column::read_values(std::span<T> out, std::size_t first) const {
  unpack_bits(entries_, width_, first, base_, out);
  constexpr std::size_t together = 32;
  std::array<std::uint64_t, together> positions;
  std::array<std::uint64_t, together> high;
  std::size_t exception = first == 0 ? 0 : first_exception(first);
  while (exception < exceptions_) {
    const std::size_t count = std::min<std::size_t>(together, exceptions_ - exception);
    unpack_bits(positions_, position_bits_, exception, 0, std::span(positions).first(count));
    unpack_bits(high_, high_bits_, exception, 0, std::span(high).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = positions[i] - first;
      if (at >= out.size()) {
        return;
      }
      out[at] = static_cast<T>(out[at] + (high[i] << width_));
    }
    exception += count;
  }
}

void Column::read(std::span<std::uint64_t> out, std::size_t first) const {
  read_values(out, first);
}
void Column::read(std::span<std::uint32_t> out, std::size_t first) const {
  read_values(out, first);
}
void Column::read(std::span<std::uint8_t> out, std::size_t first) const {
  read_values(out, first);
}

} // namespace ptlens::cache
