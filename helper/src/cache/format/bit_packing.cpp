// Eight values take as many bytes as one takes bits, so that a loop over eight of them has constant
// shifts. There is one such loop for each width.
#include "cache/format/bit_packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace ptlens::cache {
namespace {

constexpr unsigned byte_bits = 8;
constexpr unsigned word_bits = 64;
constexpr std::size_t together = 8;
constexpr unsigned most_of_one_word = word_bits - byte_bits + 1; // from any bit of the first byte

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

constexpr std::uint64_t mask_of(unsigned width) {
  return width == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

std::uint64_t value_at(const std::byte* in, unsigned width, std::size_t index) {
  const std::size_t bit = index * width;
  const std::byte* const at = in + bit / byte_bits;
  const unsigned shift = bit % byte_bits;
  std::uint64_t value = word_at(at) >> shift;
  if (width > most_of_one_word && shift != 0) {
    value |= std::to_integer<std::uint64_t>(at[sizeof value]) << (word_bits - shift);
  }
  return value & mask_of(width);
}

// Packs eight values in each round.
template <unsigned width>
void pack_together(const std::uint64_t* values, std::uint64_t base, std::size_t rounds,
                   std::byte* out) {
  for (std::size_t round = 0; round < rounds; ++round) {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < together; ++i) {
      const unsigned filled = i * width % word_bits;
      const std::uint64_t value = (values[i] - base) & mask_of(width);
      word |= value << filled;
      if (filled + width >= word_bits) {
        std::memcpy(out + i * width / word_bits * sizeof word, &word, sizeof word);
        word = value >> 1U >> (word_bits - 1 - filled); // nothing where the value fills the word
      }
    }
    if constexpr (together * width % word_bits != 0) {
      std::memcpy(out + together * width / word_bits * sizeof word, &word, sizeof word);
    }
    values += together;
    out += width;
  }
}

using Pack = void (*)(const std::uint64_t*, std::uint64_t, std::size_t, std::byte*);

template <unsigned... widths>
constexpr std::array<Pack, sizeof...(widths)>
packing_loops(std::integer_sequence<unsigned, widths...> /*unused*/) {
  return {pack_together<widths>...};
}

template <unsigned width, class T>
void unpack_together(const std::byte* in, std::uint64_t base, std::size_t rounds, T* out) {
  constexpr std::uint64_t mask = mask_of(width);
  for (std::size_t round = 0; round < rounds; ++round) {
    if constexpr (width * together <= word_bits) {
      const std::uint64_t word = word_at(in);
      for (unsigned i = 0; i < together; ++i) {
        out[i] = static_cast<T>(base + ((word >> (i * width)) & mask));
      }
    } else {
      for (unsigned i = 0; i < together; ++i) {
        const unsigned bit = i * width;
        const std::uint64_t word = word_at(in + bit / byte_bits) >> (bit % byte_bits);
        out[i] = static_cast<T>(base + (word & mask));
      }
    }
    in += width;
    out += together;
  }
}

template <class T>
using Unpack = void (*)(const std::byte*, std::uint64_t, std::size_t, T*);

template <class T, unsigned... widths>
constexpr std::array<Unpack<T>, sizeof...(widths)>
loops(std::integer_sequence<unsigned, widths...> /*unused*/) {
  return {unpack_together<widths, T>...};
}

template <class T>
void unpack(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
            std::span<T> out) {
  static constexpr auto by_width =
      loops<T>(std::make_integer_sequence<unsigned, most_of_one_word + 1>());
  if (width == 0) {
    std::ranges::fill(out, static_cast<T>(base));
    return;
  }
  std::size_t done = 0;
  if (first % together == 0 && width <= most_of_one_word) {
    const std::size_t rounds = out.size() / together;
    by_width[width](in + first / together * width, base, rounds, out.data());
    done = rounds * together;
  }
  for (; done < out.size(); ++done) {
    out[done] = static_cast<T>(base + value_at(in, width, first + done));
  }
}

} // namespace

std::byte* pack_bits(std::span<const std::uint64_t> values, std::uint64_t base, unsigned width,
                     std::byte* out) {
  if (width == 0) {
    return out;
  }
  static constexpr auto by_width =
      packing_loops(std::make_integer_sequence<unsigned, word_bits + 1>());
  const std::size_t rounds = values.size() / together;
  by_width[width](values.data(), base, rounds, out);
  BitPacker packer(width, out + rounds * width);
  for (const std::uint64_t each : values.subspan(rounds * together)) {
    packer.add((each - base) & mask_of(width));
  }
  return packer.finish();
}

void unpack_bits(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
                 std::span<std::uint64_t> out) {
  unpack(in, width, first, base, out);
}
void unpack_bits(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
                 std::span<std::uint32_t> out) {
  unpack(in, width, first, base, out);
}
void unpack_bits(const std::byte* in, unsigned width, std::size_t first, std::uint64_t base,
                 std::span<std::uint8_t> out) {
  unpack(in, width, first, base, out);
}

} // namespace ptlens::cache
