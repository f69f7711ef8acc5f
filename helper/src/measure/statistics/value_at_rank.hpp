// Values at ranks of an unordered list, without sorting it: values are counted by their leading
// bits, and only those that share the bits of the wanted one are put in order, unless all these are
// equal.
#pragma once

#include "measure/statistics/leading_bits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace ptlens::measure {

class RankedValues {
public:
  // The values must outlive the object.
  explicit RankedValues(std::span<const std::uint64_t> values)
      : values_(values), counts_(Leading::keys) {
    for (const std::uint64_t value : values) {
      ++counts_[Leading::key(value)];
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
    const std::uint64_t least = Leading::least(wanted);
    if (Leading::least(wanted + 1) == least + 1) {
      return least;
    }
    std::vector<std::uint64_t> same;
    same.reserve(counts_[wanted]);
    std::ranges::copy_if(values_, std::back_inserter(same),
                         [wanted](std::uint64_t value) { return Leading::key(value) == wanted; });
    const auto found = same.begin() + static_cast<std::ptrdiff_t>(left);
    std::ranges::nth_element(same, found);
    return *found;
  }

private:
  using Leading = LeadingBits<11>;

  std::span<const std::uint64_t> values_;
  std::vector<std::uint32_t> counts_; // by leading bits
};

} // namespace ptlens::measure
