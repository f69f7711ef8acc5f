// Counts of branches by the length of their time interval, for percentiles of the uncertainty.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace ptlens::flow {

class UncertaintyCounts {
public:
  void add(std::uint64_t interval_ns) {
    if (interval_ns < short_.size()) {
      ++short_[interval_ns];
    } else {
      ++long_[interval_ns];
    }
  }

  void add(const UncertaintyCounts& other) {
    for (std::size_t interval = 0; interval < short_.size(); ++interval) {
      short_[interval] += other.short_[interval];
    }
    for (const auto& [interval, count] : other.long_) {
      long_[interval] += count;
    }
  }

  // Returns the smallest length, ns, that at least nineteen of twenty intervals do not exceed; 0
  // where there are no intervals.
  [[nodiscard]] std::uint64_t of_nineteen_in_twenty() const {
    std::uint64_t all = 0;
    for (const std::uint64_t count : short_) {
      all += count;
    }
    for (const auto& [interval, count] : long_) {
      all += count;
    }
    std::uint64_t left = all - all / 20;
    for (std::size_t interval = 0; interval < short_.size(); ++interval) {
      if (short_[interval] >= left) {
        return interval;
      }
      left -= short_[interval];
    }
    for (const auto& [interval, count] : long_) {
      if (count >= left) {
        return interval;
      }
      left -= count;
    }
    return 0;
  }

private:
  std::array<std::uint64_t, 4096> short_{};     // by length, ns
  std::map<std::uint64_t, std::uint64_t> long_; // the same of longer ones
};

} // namespace ptlens::flow
