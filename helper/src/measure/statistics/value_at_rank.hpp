// Values at ranks of an unordered list, without sorting it: values are counted by their leading
// bits, and only those that share the bits of the wanted one are put in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace ptlens::measure {

class RankedValues {
public:
  // The values must outlive the object.
  explicit RankedValues(std::span<const std::uint64_t> values) : values_(values), counts_(keys) {
    for (const std::uint64_t value : values) {
      ++counts_[key(value)];
    }
  }

  // Returns the value at the rank, from 0 on; 0 where there are no values.
  [[nodiscard]] std::uint64_t at(std::size_t rank) const {
    if (values_.empty()) {
      return 0;
    }
    std::size_t left = std::min(rank, values_.size() - 1);
    std::size_t wanted = 0;
    while (left >= counts_[wanted]) {
      left -= counts_[wanted++];
    }
    std::vector<std::uint64_t> same;
    same.reserve(counts_[wanted]);
    std::ranges::copy_if(values_, std::back_inserter(same),
                         [wanted](std::uint64_t value) { return key(value) == wanted; });
    const auto found = same.begin() + static_cast<std::ptrdiff_t>(left);
    std::ranges::nth_element(same, found);
    return *found;
  }

private:
  static constexpr unsigned kept_bits = 11;
  static constexpr std::size_t keys = std::size_t{64 - kept_bits + 1} << kept_bits;

  // Returns the position of the leading bit, and the bits after it. Ascends with the value.
  static std::size_t key(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= kept_bits) {
      return value;
    }
    const unsigned shift = width - kept_bits - 1;
    return (std::size_t{shift + 1} << kept_bits) +
           ((value >> shift) & ((std::uint64_t{1} << kept_bits) - 1));
  }

  std::span<const std::uint64_t> values_;
  std::vector<std::uint32_t> counts_; // by key
};

} // namespace ptlens::measure
