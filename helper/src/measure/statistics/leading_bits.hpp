// A number by its leading bits, as the index of a table: its bit width and the bits after the
// leading one, as in the histograms of HdrHistogram (Tene).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace ptlens::measure {

template <unsigned kept_bits> // after the leading one
struct LeadingBits {
  static constexpr std::size_t keys = std::size_t{64 - kept_bits + 1} << kept_bits;

  // Returns a key below `keys`. It ascends with the value.
  [[nodiscard]] static std::size_t key(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= kept_bits) {
      return value;
    }
    const unsigned shift = width - kept_bits - 1;
    return (std::size_t{shift + 1} << kept_bits) +
           ((value >> shift) & ((std::uint64_t{1} << kept_bits) - 1));
  }

  // Returns the least value with the key.
  [[nodiscard]] static std::uint64_t least(std::size_t key) {
    const std::size_t width = key >> kept_bits;
    const std::uint64_t rest = key & ((std::size_t{1} << kept_bits) - 1);
    return width == 0 ? rest : (rest | std::uint64_t{1} << kept_bits) << (width - 1);
  }
};

} // namespace ptlens::measure
