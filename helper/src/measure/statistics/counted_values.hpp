// Values, most of them small: these are counted and not kept, so that the value at a rank is found
// without an array of all values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ptlens::measure {

class CountedValues {
public:
  void add(std::uint32_t value) {
    if (value < counted_below) {
      ++counts_[value];
    } else {
      others_.push_back(value);
    }
  }

  void add(const CountedValues& more) {
    for (std::size_t value = 0; value < counted_below; ++value) {
      counts_[value] += more.counts_[value];
    }
    others_.insert(others_.end(), more.others_.begin(), more.others_.end());
  }

  [[nodiscard]] std::size_t size() const {
    return std::accumulate(counts_.begin(), counts_.end(), others_.size());
  }

  // Returns the value at the rank, from 0 on and below size().
  [[nodiscard]] std::uint32_t at(std::size_t rank) {
    for (std::uint32_t value = 0; value < counted_below; ++value) {
      if (rank < counts_[value]) {
        return value;
      }
      rank -= counts_[value];
    }
    const auto found = others_.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(others_, found);
    return *found;
  }

private:
  static constexpr std::uint32_t counted_below = 4096;

  std::vector<std::size_t> counts_ = std::vector<std::size_t>(counted_below); // by value
  std::vector<std::uint32_t> others_;
};

} // namespace ptlens::measure
