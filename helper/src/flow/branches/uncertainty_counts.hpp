// How many branches had which width of interval, for percentiles of the uncertainty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace ptlens::flow {

class UncertaintyCounts {
public:
  void add(std::uint64_t width_ns) {
    if (width_ns < narrow_.size()) {
      ++narrow_[width_ns];
    } else {
      ++wide_[width_ns];
    }
  }

  void add(const UncertaintyCounts& other) {
    for (std::size_t width = 0; width < narrow_.size(); ++width) {
      narrow_[width] += other.narrow_[width];
    }
    for (const auto& [width, count] : other.wide_) {
      wide_[width] += count;
    }
  }

  // The smallest width, ns, that at least nineteen of twenty did not exceed; 0 where there are
  // none.
  [[nodiscard]] std::uint64_t of_nineteen_in_twenty() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : narrow_) {
      all += count;
    }
    for (const auto& [width, count] : wide_) {
      all += count;
    }
    std::uint64_t left = all - all / 20;
    for (std::size_t width = 0; width < narrow_.size(); ++width) {
      if (narrow_[width] >= left) {
        return width;
      }
      left -= narrow_[width];
    }
    for (const auto& [width, count] : wide_) {
      if (count >= left) {
        return width;
      }
      left -= count;
    }
    return 0;
  }

private:
  std::array<std::uint64_t, 4096> narrow_{};
  std::map<std::uint64_t, std::uint64_t> wide_;
};

} // namespace ptlens::flow
